/** Follows each of the agent's hunks from its write to the reviewed text. Pure. */
import { diffArrays } from "../../../deps/diff.ts";
import type { HunkOutcomes } from "../../log/edits.ts";

/** Limit of all diffs together; beyond it, the outcome is unknown. */
const LONGEST_MS = 500;

/** One write of the agent: the text before and after. */
interface Write {
  readonly before: string;
  readonly after: string;
}

type Outcomes = { -readonly [Outcome in keyof HunkOutcomes]: number };

/** Lines from `start` to before `end`, which replace `old`. */
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
 * @param writes oldest first; others may change the file in between and afterwards @param now the text that the user
 * accepted @returns one outcome for each write; a hunk that a later write changed counts there. Undefined: unknown
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
      // A hunk that the agent changed again belongs to the later write.
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

/** Adjacent lines do not overlap, except at the place of removed lines. */
function overlaps({ start, end }: Region, block: Block): boolean {
  if (start === end) return block.start <= start && block.end >= start;
  if (block.start === block.end) return block.start > start && block.start < end;
  return block.start < end && block.end > start;
}

/** The region's place after these changes. */
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
