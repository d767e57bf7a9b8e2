import type { BotSettings, Choose, Client } from "./client.js";

export * from "./errors.js";
export { Position, type Pit, type Seeds, type Side } from "./rules.js";
export { Turn, type BotSettings, type Choose, type Client, type Ended, type LastPly } from "./client.js";
export type { Legal, Level, Log, Milliseconds, Result, Termination } from "./wire.js";

export interface Settings extends BotSettings {
  /** The daemon's WebSocket, like `ws://localhost:6635/ws`; that of the page's own server where none is named. */
  url?: string;
}

/** Connects, plays so many games in a pool by `choose`, and says bye. Throws what `connect` and `turns` throw. */
export function run(choose: Choose, pool?: string, games?: number, settings?: Settings): Promise<void>;

/** Connects, and is there once the server has let the bot in; throws SettingError, ConnectError, AuthError or ProtocolError. */
export function connect(settings?: Settings): Promise<Client>;
