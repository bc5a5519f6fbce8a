/** How the cost of work grows with its input, in CPU time: a busy machine does not change it. */
import assert from "node:assert/strict";
import process from "node:process";

/** A quadratic step costs 16 times as much for four times the input. */
const TIMES = 4;
const MOST = 8;
const TRIES = 7;
/** Shorter work is too short for the clock: it is repeated. Milliseconds. */
const SHORTEST = 4;
/** After a bad try the work is repeated this much more: a collection of garbage then falls on both sides. */
const LONGER = 8;

/**
 * Asserts for each row that four times the input costs at most 8 times as much. One good
 * try is enough; after a bad one two of seven have to be good. The inputs have
 * these sizes and no other: what is tested may have a largest one.
 *
 * @param prepare makes the work for an input of this size, which is not measured; the work is done several times
 * @param size of the smaller input
 */
export async function assertEachLinear<T>(
  rows: readonly T[],
  prepare: (row: T, size: number) => () => unknown,
  size: number,
): Promise<void> {
  for (const row of rows) {
    const [small, large] = [prepare(row, size), prepare(row, size * TIMES)];
    let times = 1;
    while (await cost(small, times * TIMES) < SHORTEST) times *= 2;
    // Until it is compiled code takes longer: the small one is by now.
    await cost(large, times);
    // As much input on both sides, so that both make as much garbage.
    const ratio = async () => {
      const before = await cost(small, times * TIMES) / TIMES;
      return await cost(large, times) / before;
    };
    const ratios = [await ratio()];
    if (ratios.every((one) => one <= MOST)) continue;
    times *= LONGER;
    const good = () => ratios.filter((one) => one <= MOST).length;
    // As soon as two are good, or only one can be, it is decided.
    while (good() < 2 && ratios.length - good() < TRIES - 1) ratios.push(await ratio());
    // A quadratic step never costs half of what it costs.
    const [, second = Infinity] = ratios.toSorted((a, b) => a - b);
    assert.ok(
      second <= MOST,
      `${JSON.stringify(row)}: ${TIMES} times the input costs ${second.toFixed(1)} times as much (${
        ratios.map((one) => one.toFixed(1))
      })`,
    );
  }
}

/** Milliseconds of CPU time. */
async function cost(work: () => unknown, times: number): Promise<number> {
  const before = process.cpuUsage();
  for (let left = times; left > 0; left--) await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}
