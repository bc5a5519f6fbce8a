/** Reads what `deno test` prints, and keeps what a reader of a failure needs. */

/** Tests and their steps. */
export interface Counts {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

const SUMMARY = /^(?:ok|FAILED) \| \d+ passed/m;

/** The end of the line that closes a test or a step, also of one that Deno has called slow before. */
const VERDICT = /(?:\.\.\.|^) (ok|FAILED|ignored)( \(.*\))?$/;

/** A test that failed by a step is counted once. */
const BY_STEP = /FAILED \(due to \d+ failed steps?\)/;

/** @param lines what `deno test` without colours printed of some tests */
export function countTests(lines: readonly string[]): Counts {
  const counts = { passed: 0, failed: 0, skipped: 0 };
  for (const line of lines) {
    const verdict = VERDICT.exec(line)?.[1];
    if (verdict === "ok") counts.passed++;
    if (verdict === "ignored") counts.skipped++;
    if (verdict === "FAILED" && !BY_STEP.test(line)) counts.failed++;
  }
  return counts;
}

/** Whether it came to its end: it did not crash, was not killed, and all its modules could be loaded. */
export function isWhole(output: string): boolean {
  return SUMMARY.test(output);
}

/**
 * What to print of the failures: output of the failed tests (Neovim's screen too), then errors.
 * @param output all that a `deno test` without colours printed
 */
export function failuresIn(output: string): string {
  return isWhole(output) ? `${failedOutput(output)}${errors(output)}` : output;
}

/** What failed tests printed while they ran. */
function failedOutput(output: string): string {
  const [progress = ""] = output.split("\n ERRORS \n");
  const kept: string[] = [];
  let since: string[] = [];
  for (const line of progress.split("\n")) {
    since.push(line);
    const verdict = VERDICT.exec(line)?.[1];
    if (verdict === undefined) continue;
    if (verdict === "FAILED") kept.push(...since);
    since = [];
  }
  return kept.length === 0 ? "" : `${kept.join("\n")}\n`;
}

function errors(output: string): string {
  const start = output.indexOf("\n ERRORS \n");
  return start < 0 ? output : output.slice(start);
}
