/** How often a property is tried. */
import { IS_FULL } from "./sample.ts";

/** A run of the tests tries one of so many of the values that `--full` tries. */
const SHARE = 16;
/** Fewer would hardly vary. */
const FEWEST = 5;

/**
 * Parameters for `fc.assert`. Values of the sample are other ones in each run of the tests, unless a seed is set.
 *
 * @param all of them run with `--full`
 */
export function runs(all: number): { readonly numRuns: number } {
  return { numRuns: IS_FULL ? all : Math.min(all, Math.max(FEWEST, Math.floor(all / SHARE))) };
}
