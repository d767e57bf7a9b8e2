/** Plays the legal pit that captures most on this ply; of equal ones the lowest. */

import { run } from "modiar";
import { options } from "./options.js";

const { pool, games } = options();
process.exitCode = await run((turn) => turn.position.greedy(), pool, games);
