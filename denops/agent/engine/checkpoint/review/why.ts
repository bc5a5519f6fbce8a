/** Finds the change that wrote a line, by following it back through the versions of its file. Pure. */
import { diffArrays } from "../../../deps/diff.ts";
import type { Contents } from "../../log/checkpoints.ts";
import type { Version } from "../../log/reviews.ts";
import { textOf } from "../restore/plan.ts";

/** Texts whose diff takes longer are not followed. */
const LONGEST_MS = 500;

interface Origin {
  /** @param before only versions older than this checkpoint */
  versions(path: string, before?: number): Iterable<Version>;
  readonly contents: Contents;
}

/** @param line from 1 @returns the change that wrote the line; undefined if the user did */
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
 * The versions that count, newest first. An undo and what it reverted are skipped together if the texts match. A moved
 * file continues under its earlier name.
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
    // The text only changed by the same call's write, so its source has the earlier text.
    const { value: source } = origin.versions(value.renamedFrom, checkpoint + 1)[Symbol.iterator]().next();
    yield source?.checkpoint === checkpoint ? { ...value, before: source.before } : value;
    name = value.renamedFrom;
  }
}

/** The oldest change that this one reverted: its text before equals this one's text after. */
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

/** Without indentation, so that a formatter does not become the author. */
function bare(lines: readonly string[]): readonly string[] {
  return lines.map((line) => line.replace(/\s+/g, ""));
}

/** The line of `older` that corresponds to line `at` of `newer`; undefined if it is new. Both count from 0. */
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
