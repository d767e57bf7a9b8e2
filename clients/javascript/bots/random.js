/** Plays any legal pit, each as likely as the other; the same --seed makes the same choices. */

import { run } from "modiar";
import { options } from "./options.js";

const { pool, games, seed } = options({ seed: undefined });

/** Numbers from 0 to 1 by the seed alone: the generator mulberry32. */
function generator(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const random = seed === undefined ? Math.random : generator(seed);
process.exitCode = await run(({ legal }) => legal[Math.floor(random() * legal.length)], pool, games);
