/** What can go wrong. Each error has a name of its own, and says what to do. */

/** The parent of all of them. */
export class ModiarError extends Error {
  constructor(message, options) {
    super(message, options);
    this.name = new.target.name;
  }
}

/** A setting cannot be used; the message names it, its value, and what to do. */
export class SettingError extends ModiarError {}

/** The first connection could not be made; `cause` is the system's error, where there is one. */
export class ConnectError extends ModiarError {
  /** `host` is a name and `port` a number; in the browser `host` is the URL, and there is no port. */
  constructor(host, port, cause) {
    const place = port === undefined ? host : `${host}:${port}`;
    super(`cannot connect to ${place}: ${reason(cause)}`, { cause });
    Object.assign(this, { host, port });
  }
}

/** The server refused a message, or hung up for good; `code` is the error's code or the goodbye's reason. */
export class ProtocolError extends ModiarError {
  /** `answer` is the server's `error`, or another object with `code` and `message`. */
  constructor(answer) {
    super(`${answer.code}: ${answer.message}`);
    const { code, field, clause, fatal = true } = answer;
    Object.assign(this, { code, field, clause, fatal });
  }
}

/** The server does not let this bot in under this name. */
export class AuthError extends ProtocolError {}

/** A pit may not be played; `clause` is the id of the rule that it breaks. Nothing was sent. */
export class IllegalMove extends ModiarError {
  constructor(pit, clause, legal) {
    super(`pit ${String(pit)} breaks ${clause ?? "the server's rules"}: play one of ${legal.join(", ") || "none"}`);
    Object.assign(this, { pit, clause });
  }
}

/** A text is no position; `clause` is the id of the rule that it breaks. */
export class PositionError extends ModiarError {
  constructor(text, clause) {
    super(`${JSON.stringify(text)} is no position: it breaks ${clause}`);
    this.clause = clause;
  }
}

/** The words of a system's error; where several addresses were tried, those of each. */
export function reason(cause) {
  if (cause?.errors?.length) return cause.errors.map(reason).join("; ");
  return cause?.message || cause?.code || String(cause);
}
