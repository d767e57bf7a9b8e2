/** The parent of all errors of this package. */
export class ModiarError extends Error {}

/** A setting cannot be used; the message names it, its value, and what to do. */
export class SettingError extends ModiarError {}

/** The first connection could not be made. In the browser `host` is the URL, and there is no `port`. */
export class ConnectError extends ModiarError {
  readonly host: string;
  readonly port?: number;
}

/** The server refused a message, or hung up for good. */
export class ProtocolError extends ModiarError {
  /** An error code of the server, or the reason of its goodbye. */
  readonly code: string;
  /** The field at fault, with `bad_field`. */
  readonly field?: string;
  /** The clause of the specification, where the server names one. */
  readonly clause?: string;
  /** Whether the connection ended by it. */
  readonly fatal: boolean;
}

/** The server does not let this bot in under this name. */
export class AuthError extends ProtocolError {}

/** A pit may not be played. Nothing was sent. */
export class IllegalMove extends ModiarError {
  /** What was to be played: any value that a program hands over. */
  readonly pit: unknown;
  /** The clause of the rules that it breaks; none where only the server says so. */
  readonly clause?: string;
}

/** A text is no position. */
export class PositionError extends ModiarError {
  readonly clause: string;
}
