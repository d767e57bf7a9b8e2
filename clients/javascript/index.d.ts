import type { BotSettings, Choose, Client } from "./client.js";

export * from "./errors.js";
export { Position, type Pit, type Seeds, type Side } from "./rules.js";
export { Turn, type BotSettings, type Choose, type Client, type Ended, type LastPly } from "./client.js";
export type { Legal, Level, Log, Milliseconds, Result, Termination } from "./wire.js";

/** What is left out is taken from the environment, and then from the default. */
export interface Settings extends BotSettings {
  /** MODIAR_HOST; 127.0.0.1 */
  host?: string;
  /** MODIAR_PORT; 6634 */
  port?: number | string;
  /** MODIAR_TLS=1; off */
  tls?: boolean;
  /** MODIAR_CA: a file of certificates in PEM, trusted in place of the system's; TLS too. */
  ca?: string;
}

/**
 * A whole program: connects, plays so many games in a pool (`practice` and 1 where nothing is named, 0 for no end), tells
 * a result a line on stdout and all else on stderr.
 *
 * Returns the exit status: 0 when every game was played, 2 for a wrong setting, 3 when the server could not be reached,
 * refused the bot or hung up for good, 130 after Ctrl-C. An error of `choose` is thrown here only with `strict`.
 */
export function run(choose: Choose, pool?: string, games?: number, settings?: Settings): Promise<number>;

/** Connects, and is there once the server has let the bot in; throws SettingError, ConnectError, AuthError or ProtocolError. */
export function connect(settings?: Settings): Promise<Client>;
