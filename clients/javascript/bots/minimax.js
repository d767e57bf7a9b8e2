/** Plays the pit that is worth most, looking --depth plies ahead (default: 6); of equal ones the lowest. */

import { run } from "modiar";
import { options } from "./options.js";

const { pool, games, depth } = options({ depth: 6 });
process.exitCode = await run((turn) => turn.position.minimax(depth), pool, games);
