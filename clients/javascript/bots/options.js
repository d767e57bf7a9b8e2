/** The command line that the bots share. */

import { parseArgs } from "node:util";

const NUMBER = /^[0-9]{1,15}$/;

/**
 * `--games` (default: 1; 0: until stopped), `--pool` (default: practice), and `more` numbers with their defaults; a wrong
 * option ends the program with status 2.
 */
export function options(more = {}) {
  const numbers = { games: 1, ...more };
  const names = Object.fromEntries([...Object.keys(numbers), "pool"].map((name) => [name, { type: "string" }]));
  try {
    const { pool = "practice", ...given } = parseArgs({ options: names }).values;
    return { pool, ...numbers, ...Object.fromEntries(Object.entries(given).map(toNumber)) };
  } catch (error) {
    console.error(
      `${error.message}\noptions: --pool P ${Object.keys(numbers)
        .map((name) => `--${name} N`)
        .join(" ")}`,
    );
    return process.exit(2);
  }
}

function toNumber([name, text]) {
  if (!NUMBER.test(text)) throw new Error(`--${name} is ${JSON.stringify(text)}: write a whole number`);
  return [name, Number(text)];
}
