/** Reads what `deno test` prints, and keeps what a reader of a failure needs. */

export interface FileResult {
  /** Tests and their steps. */
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
  /** What to print of the failures: output of the failed tests (Neovim's screen too), then errors. Empty if none. */
  readonly failures: string;
}

const SUMMARY =
  /^(?:ok|FAILED) \| (\d+) passed(?: \((\d+) steps?\))? \| (\d+) failed(?: \((\d+) steps?\))?(?: \| (\d+) ignored)?(?: \((\d+) steps?\))?/m;

/** The end of the line that closes a test or a step. */
const VERDICT = /\.\.\. (ok|FAILED|ignored)( \(.*\))?$/;

/**
 * @param output all that a `deno test` without colours printed
 * @param code its exit code
 */
export function readResult(output: string, code: number): FileResult {
  const [summary, ...counts] = SUMMARY.exec(output) ?? [];
  // It ended before its summary: it crashed, was killed, or a module could not be loaded.
  if (summary === undefined) return { passed: 0, failed: 1, skipped: 0, failures: output };
  const [passed = 0, steps = 0, failed = 0, failedSteps = 0, skipped = 0, skippedSteps = 0] = counts.map(
    (count) => Number(count ?? 0),
  );
  // A test that failed by a step is counted once.
  const broken = Math.max(failed, failedSteps);
  const isGood = code === 0 && broken === 0;
  return {
    passed: passed + steps,
    failed: isGood ? 0 : Math.max(broken, 1),
    skipped: skipped + skippedSteps,
    failures: isGood ? "" : `${failedOutput(output)}${errors(output)}`,
  };
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
