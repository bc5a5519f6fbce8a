/** What has become of the agent's hunks of a file, each followed from the write that made it to the end. Pure. */
import { diffArrays } from "../../../deps/diff.ts";
import type { HunkOutcomes } from "../../log/edits.ts";

/** All diffs together; if they take longer it cannot be said. */
const LONGEST_MS = 500;

/** One write of the agent's: the file's text before and after. */
interface Write {
  readonly before: string;
  readonly after: string;
}

type Outcomes = { -readonly [Outcome in keyof HunkOutcomes]: number };

/** Lines from `start` on, `end` not included, which stand for `old`. */
interface Region {
  readonly write: number;
  readonly old: readonly string[];
  readonly start: number;
  readonly end: number;
  readonly touched: boolean;
}

interface Block {
  readonly start: number;
  readonly end: number;
  readonly newStart: number;
  readonly newEnd: number;
}

/**
 * @param writes oldest first; between them and after the last others may have changed the file
 * @param now the text that the user has agreed to
 * @returns one for each write; a hunk that a later write has changed counts there. Undefined: it cannot be said
 */
export function outcomesOf(writes: readonly Write[], now: string): readonly HunkOutcomes[] | undefined {
  const until = performance.now() + LONGEST_MS;
  const blocksOf = (before: readonly string[], after: readonly string[]) => blocksUntil(until, before, after);
  const found = writes.map((): Outcomes => ({ kept: 0, changed: 0, undone: 0 }));
  let regions: readonly Region[] = [];
  let text: readonly string[] | undefined;
  for (const [write, { before, after }] of writes.entries()) {
    const [was, is] = [linesOf(before), linesOf(after)];
    const others = text === undefined ? [] : blocksOf(text, was);
    const own = blocksOf(was, is);
    if (others === undefined || own === undefined) return undefined;
    const there = regions.map((region) => followed(region, others));
    regions = [
      // What the agent has changed once more is a hunk of that write.
      ...there.filter((region) => !own.some((block) => overlaps(region, block)))
        .map((region) => followed(region, own)),
      ...own.map(({ start, end, newStart, newEnd }) => ({
        ...{ write, old: was.slice(start, end), start: newStart, end: newEnd, touched: false },
      })),
    ];
    text = is;
  }
  const last = linesOf(now);
  const blocks = blocksOf(text ?? [], last);
  if (blocks === undefined) return undefined;
  for (const region of regions) {
    const { write, old, start, end, touched } = followed(region, blocks);
    const isOld = old.length === end - start && old.every((line, at) => line === last[start + at]);
    const outcome = !touched ? "kept" : isOld ? "undone" : "changed";
    const counts = found[write];
    if (counts !== undefined) counts[outcome] += 1;
  }
  return found;
}

function linesOf(text: string): readonly string[] {
  return text === "" ? [] : text.replace(/\r?\n$/, "").split(/\r?\n/);
}

function blocksUntil(
  until: number,
  before: readonly string[],
  after: readonly string[],
): readonly Block[] | undefined {
  const blocks: Block[] = [];
  let [at, newAt] = [0, 0];
  let open: { start: number; newStart: number } | undefined;
  const close = () => {
    if (open !== undefined) blocks.push({ ...open, end: at, newEnd: newAt });
    open = undefined;
  };
  const changes = diffArrays([...before], [...after], {
    timeout: Math.max(1, until - performance.now()),
  });
  if (changes === undefined) return undefined;
  for (const { added, removed, count } of changes) {
    if (added || removed) open ??= { start: at, newStart: newAt };
    else close();
    if (!added) at += count;
    if (!removed) newAt += count;
  }
  close();
  return blocks;
}

/** Lines beside a hunk are not of it; at the place of lines that a hunk has removed anything is. */
function overlaps({ start, end }: Region, block: Block): boolean {
  if (start === end) return block.start <= start && block.end >= start;
  if (block.start === block.end) return block.start > start && block.start < end;
  return block.start < end && block.end > start;
}

/** Where it is after these changes. */
function followed(region: Region, blocks: readonly Block[]): Region {
  const within = blocks.filter((block) => overlaps(region, block));
  const before = blocks.findLast((block) => block.end <= region.start && !within.includes(block));
  const shift = before === undefined ? 0 : before.newEnd - before.end;
  const [first, last] = [within[0], within.at(-1)];
  if (first === undefined || last === undefined) {
    return { ...region, start: region.start + shift, end: region.end + shift };
  }
  return {
    ...region,
    start: Math.min(region.start + shift, first.newStart),
    end: Math.max(last.newEnd, region.end + last.newEnd - last.end),
    touched: true,
  };
}
