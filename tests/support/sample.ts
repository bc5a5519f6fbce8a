/** What a run of the tests tries of a long list; `deno task attack`, `crash` and `loss` try all of it. */

/** Set by `deno task test --full` and `deno task attack`. */
export const IS_FULL = Deno.env.get("AGENT_TEST_FULL") !== undefined;

/** All rows when everything is tried, else `count` of them, evenly spread from the first on. */
export function sample<T>(rows: readonly T[], count: number): readonly T[] {
  if (IS_FULL || rows.length <= count) return rows;
  return rows.filter((_, index) => index === 0 || share(index) !== share(index - 1));

  function share(index: number): number {
    return Math.floor(index * count / rows.length);
  }
}
