/**
 * Three-way merge of lines, by the same rule as the editor's (lua/agent/reload/merge.lua), after git's
 * `xdl_do_merge`: changes of the two sides that overlap or touch conflict. Pure.
 */
import { diffArrays } from "../../deps/diff.ts";

/** Texts that take longer to compare count as one change. */
const LONGEST_MS = 1_000;

interface Conflict {
  /** Line of `ours`, from 1, where its lines begin. */
  readonly line: number;
  readonly ours: readonly string[];
  readonly theirs: readonly string[];
}

type Merged =
  | { readonly ok: true; readonly text: string }
  | { readonly ok: false; readonly conflicts: readonly Conflict[] };

/** Lines [start, end) of the base are [newStart, newEnd) of the side. */
interface Hunk {
  readonly start: number;
  readonly end: number;
  readonly newStart: number;
  readonly newEnd: number;
}

interface Group {
  readonly start: number;
  end: number;
  readonly ours: Hunk[];
  readonly theirs: Hunk[];
}

type Lines = readonly string[];

export function merge3(base: string, ours: string, theirs: string): Merged {
  const { text, conflicts } = mergePreferringOurs(base, ours, theirs);
  return conflicts.length > 0 ? { ok: false, conflicts } : { ok: true, text };
}

/** Where both sides have changed the same lines, ours win. */
export function mergePreferringOurs(
  base: string,
  ours: string,
  theirs: string,
): { readonly text: string; readonly conflicts: readonly Conflict[] } {
  const [b, o, t] = [linesOf(base), linesOf(ours), linesOf(theirs)];
  const merged: string[] = [];
  const conflicts: Conflict[] = [];
  let next = 0;
  for (const group of groupsOf(hunksOf(b, o), hunksOf(b, t))) {
    append(merged, b.slice(next, group.start));
    const [ourStart, ourEnd] = rangeOf(group, group.ours);
    const mine = o.slice(ourStart, ourEnd);
    const [theirStart, theirEnd] = rangeOf(group, group.theirs);
    const other = t.slice(theirStart, theirEnd);
    if (group.ours.length === 0) append(merged, other);
    else {
      append(merged, mine);
      const same = mine.length === other.length && mine.every((line, at) => line === other[at]);
      if (group.theirs.length > 0 && !same) {
        conflicts.push({ line: ourStart + 1, ours: mine, theirs: other });
      }
    }
    next = group.end;
  }
  append(merged, b.slice(next));
  return { text: merged.join(""), conflicts };
}

/** A call accepts a limited number of arguments, so the lines are added one by one. */
function append(to: string[], lines: Lines): void {
  for (const line of lines) to.push(line);
}

/** Each line has its ending; the last one may have none. */
function linesOf(text: string): Lines {
  return text.match(/[^\r\n]*(?:\r\n|\n|\r)|[^\r\n]+$/g) ?? [];
}

function hunksOf(base: Lines, side: Lines): readonly Hunk[] {
  const changes = diffArrays([...base], [...side], { timeout: LONGEST_MS });
  if (changes === undefined) {
    return [{ start: 0, end: base.length, newStart: 0, newEnd: side.length }];
  }
  const hunks: Hunk[] = [];
  let [at, newAt] = [0, 0];
  for (const { added, removed, count } of changes) {
    const [end, newEnd] = [added ? at : at + count, removed ? newAt : newAt + count];
    const last = hunks.at(-1);
    if (added || removed) {
      if (last !== undefined && last.end === at && last.newEnd === newAt) {
        hunks[hunks.length - 1] = { ...last, end, newEnd };
      } else hunks.push({ start: at, end, newStart: newAt, newEnd });
    }
    [at, newAt] = [end, newEnd];
  }
  return hunks;
}

/** Runs of hunks that overlap or touch. */
function groupsOf(ours: readonly Hunk[], theirs: readonly Hunk[]): readonly Group[] {
  const sided = [
    ...ours.map((hunk) => ({ hunk, mine: true })),
    ...theirs.map((hunk) => ({ hunk, mine: false })),
  ];
  sided.sort((a, b) => a.hunk.start - b.hunk.start);
  const groups: Group[] = [];
  for (const { hunk, mine } of sided) {
    let group = groups.at(-1);
    if (group === undefined || hunk.start > group.end) {
      group = { start: hunk.start, end: hunk.end, ours: [], theirs: [] };
      groups.push(group);
    }
    group.end = Math.max(group.end, hunk.end);
    (mine ? group.ours : group.theirs).push(hunk);
  }
  return groups;
}

/** The lines of a side that correspond to the base lines of a group. */
function rangeOf(group: Group, hunks: readonly Hunk[]): readonly [start: number, end: number] {
  const [first, last] = [hunks[0], hunks.at(-1)];
  if (first === undefined || last === undefined) return [group.start, group.end];
  return [first.newStart - (first.start - group.start), last.newEnd + (group.end - last.end)];
}

const MOST_CONFLICTS = 5;
const MOST_LINES = 40;

/** Both sides of each conflict, between the usual marks. */
export function conflictText(conflicts: readonly Conflict[], ours: string, theirs: string): string {
  const cut = (lines: Lines) => {
    const excerpt = lines.slice(0, MOST_LINES).map((line) => line.replace(/\r?\n$/, ""));
    return lines.length > MOST_LINES ? [...excerpt, `… ${lines.length - MOST_LINES} more lines`] : excerpt;
  };
  const out = conflicts.slice(0, MOST_CONFLICTS).flatMap((conflict) => [
    `<<<<<<< ${ours}, line ${conflict.line}`,
    ...cut(conflict.ours),
    "=======",
    ...cut(conflict.theirs),
    `>>>>>>> ${theirs}`,
  ]);
  if (conflicts.length > MOST_CONFLICTS) out.push(`… ${conflicts.length - MOST_CONFLICTS} more places`);
  return out.join("\n");
}
