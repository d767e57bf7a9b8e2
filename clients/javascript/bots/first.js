import { run } from "modiar";

process.exitCode = await run((turn) => turn.legal[0]);
