/**
 * Where a place in an answer stands as Markdown: at the top level, or in code, a quotation, a list, a table, a listing.
 * A call that stands in one of these is shown, not made. Values are of one place and never change.
 */
import { leadOf } from "./lead.ts";

export interface Layout {
  /** The fence that is open. */
  readonly fence?: string | undefined;
  /** The name of an element that a line has begun and none has ended. */
  readonly tag?: string | undefined;
  /** The end of the thought that is open. */
  readonly thought?: string | undefined;
  /** Backticks that have opened a code span in this paragraph, and close it. */
  readonly ticks: number;
  /** Of the line so far, its beginning and its end; "" where the line begins. Calls in it are left out. */
  readonly head: string;
  /** The last line before it that is not blank. */
  readonly last: string;
}

export const TOP: Layout = { ticks: 0, head: "", last: "" };

/** Characters of a line's beginning and end that are kept. */
const KEPT = 300;

const FENCE = /^[ \t]*(?:[-*+][ \t]+|\d+[.)][ \t]+)?(`{3,}(?=[^`]*$)|~{3,})/;

/** Behind some words of a line. */
export function afterWords(layout: Layout, words: string): Layout {
  const head = layout.head + words;
  return {
    ...layout,
    head: head.length > 2 * KEPT ? `${head.slice(0, KEPT)} ${head.slice(-KEPT)}` : head,
    ticks: layout.fence === undefined ? ticksAfter(layout.ticks, words) : layout.ticks,
  };
}

/** On the next line. */
export function afterLine({ fence, ticks, head, last, tag }: Layout): Layout {
  const isBlank = head.trim() === "";
  const [, mark = ""] = FENCE.exec(head) ?? [];
  const next = { head: "", last: isBlank ? last : head, ...tagAfter(tag, fence === undefined ? head : "") };
  if (fence !== undefined) {
    const isClosed = mark.startsWith(fence) && head.trim() === mark;
    return isClosed ? { ...next, ticks: 0 } : { ...next, fence, ticks: 0 };
  }
  return mark === "" ? { ...next, ticks: isBlank ? 0 : ticks } : { ...next, fence: mark, ticks: 0 };
}

/** The opening tag at the beginning of a line, except tags that models put around their answers. */
const ELEMENT =
  /^<((?!(?:answer|response|reply|final|action|output|tool|function|invoke|br|hr|img|p)\b)[a-z][\w-]*)(?:\s[^<>]*)?>/;

function tagAfter(open: string | undefined, line: string): Pick<Layout, "tag"> {
  const tag = open ?? ELEMENT.exec(line)?.[1];
  return tag === undefined || line.includes(`</${tag}>`) ? {} : { tag };
}

function ticksAfter(open: number, words: string): number {
  let ticks = open;
  for (const [run] of words.matchAll(/`+/g)) {
    if (ticks === 0) ticks = run.length;
    else if (run.length === ticks) ticks = 0;
  }
  return ticks;
}

/** A mark of a list, a quotation, a table, a heading, a comment, a listing, or a label. */
const MARKED = /^\s*(?:[>|]|[-*+](?:\s|$)|[ivx]+[.)]|\/\/|<!--|\d+[.)\t|:]|\d+ \||\p{L}[.)](?:\s|$))/u;
const LABEL = /[:=|]\s*$/;
const OPENED = /(?:[=-]>|→|["'“‘«»„「『([{`])\s*$/;
const WORDS = /\p{L}[\p{L}\p{N}_'.-]*/gu;
const TAG = /^\s*<(?:!--|pre|code|samp|kbd|blockquote|details|example)\b[^\n]*$/i;
const CODE = /^(?: {4}| {0,3}\t)/;
/** What a line is a part of that is indented by less. */
const ITEM = /^ {2}|[:|]\s*$/;

/** How a call that begins here is only shown: as a part of something, or by the words that introduce it. */
export function shownAs({ fence, ticks, head, last, tag }: Layout): "part" | "announced" | undefined {
  const isPart = head.startsWith("  ") && (MARKED.test(last) || ITEM.test(last));
  if (fence !== undefined || tag !== undefined || ticks > 0 || CODE.test(head) || isPart) return "part";
  if (TAG.test(last) && !last.includes("</")) return "part";
  const isLine = head.trim() === "";
  const words = head.match(WORDS)?.length ?? 0;
  if (OPENED.test(isLine ? last : head)) return "part";
  if (!isLine && (MARKED.test(head) || words === 0 || (words === 1 && LABEL.test(head)))) return "part";
  return leadOf(isLine ? last : head, isLine) === "made" ? undefined : "announced";
}
