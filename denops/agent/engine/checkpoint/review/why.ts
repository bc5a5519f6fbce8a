/** Which change wrote a line: the line is followed back through the versions of its file. Pure. */
import { diffArrays } from "../../../deps/diff.ts";
import type { Contents } from "../../log/checkpoints.ts";
import type { Version } from "../../log/reviews.ts";
import { textOf } from "../restore/plan.ts";

/** Texts that differ so much are not followed any further. */
const LONGEST_MS = 500;

interface Origin {
  /** @param before only what is older than this checkpoint */
  versions(path: string, before?: number): Iterable<Version>;
  readonly contents: Contents;
}

/**
 * @param line counted from 1
 * @returns the change that the line comes from; undefined if it is the user's own
 */
export function whoWrote(path: string, line: number, text: string, origin: Origin): Version | undefined {
  let [lines, at] = [linesOf(text), line - 1];
  for (const version of history(path, origin)) {
    const [before, after] = [version.before, version.after].map((image) =>
      image.type === "file" && image.blob !== undefined
        ? textOf(image.blob, origin.contents)?.text
        : image.type === "absent"
        ? ""
        : undefined
    );
    if (before === undefined || after === undefined) return undefined;
    const there = mapLine(linesOf(after), lines, at) ?? mapLine(bare(linesOf(after)), bare(lines), at);
    if (there === undefined) return undefined;
    const older = mapLine(linesOf(before), linesOf(after), there);
    if (older === undefined) return isOwn(version) ? version : undefined;
    [lines, at] = [linesOf(before), older];
  }
  return undefined;
}

function isOwn({ kind }: Version): boolean {
  return kind === "tool" || kind === "command";
}

/**
 * The versions that stand, newest first: what was undone, and the undoing, are left out together where the texts
 * fit. A file that was moved goes on under its earlier name.
 */
function* history(path: string, origin: Origin): Generator<Version> {
  let name = path;
  let before: number | undefined;
  for (;;) {
    const { value } = origin.versions(name, before)[Symbol.iterator]().next();
    if (value === undefined) return;
    const { checkpoint } = value;
    before = checkpoint;
    const earlier = isOwn(value) ? undefined : undoneBy(value, origin);
    if (earlier !== undefined) {
      name = earlier.path;
      before = earlier.checkpoint;
      continue;
    }
    if (value.renamedFrom === undefined) {
      yield value;
      continue;
    }
    // The text did not change but for what the same call wrote: its source has the text before.
    const { value: source } = origin.versions(value.renamedFrom, checkpoint + 1)[Symbol.iterator]().next();
    yield source?.checkpoint === checkpoint ? { ...value, before: source.before } : value;
    name = value.renamedFrom;
  }
}

/** The oldest change that this one has taken back: its text before is this one's text after. */
function undoneBy(taken: Version, { versions }: Origin): Version | undefined {
  if (taken.after.type !== "file") return undefined;
  const { blob } = taken.after;
  let found: Version | undefined;
  for (const version of versions(taken.path, taken.checkpoint)) {
    if (version.before.type === "file" && version.before.blob === blob) found = version;
    if (version.after.type === "file" && version.after.blob === blob) break;
  }
  return found;
}

function linesOf(text: string): readonly string[] {
  return text === "" ? [] : text.replace(/\r?\n$/, "").split(/\r?\n/);
}

/** As a formatter does not change them: lines that it indents anew are still by whom they were. */
function bare(lines: readonly string[]): readonly string[] {
  return lines.map((line) => line.replace(/\s+/g, ""));
}

/** Where line `at` of `newer` is in `older`; undefined if it is not there. Both count from 0. */
function mapLine(older: readonly string[], newer: readonly string[], at: number): number | undefined {
  const changes = diffArrays([...older], [...newer], { timeout: LONGEST_MS });
  let [oldAt, newAt] = [0, 0];
  for (const { added, removed, count } of changes ?? []) {
    if (!removed && at < newAt + count) return added ? undefined : oldAt + (at - newAt);
    if (!added) oldAt += count;
    if (!removed) newAt += count;
  }
  return undefined;
}
