/**
 * Tracks the Markdown context of a position in an answer: top level, code, quotation, list, table or listing.
 * A call inside of these is quoted, not made. Values are immutable.
 */
import { leadOf } from "./lead.ts";

export interface Layout {
  /** The open fence. */
  readonly fence?: string | undefined;
  /** The name of an element that began on an earlier line and is still open. */
  readonly tag?: string | undefined;
  /** The closing mark of the open thought. */
  readonly thought?: string | undefined;
  /** Backticks that opened a code span in this paragraph, and will close it. */
  readonly ticks: number;
  /** Beginning and end of the current line without its calls; "" at the beginning of a line. */
  readonly head: string;
  /** The last earlier line that is not blank. */
  readonly last: string;
}

export const TOP: Layout = { ticks: 0, head: "", last: "" };

/** Characters that are stored of a line's beginning and end. */
const KEPT = 300;

const FENCE = /^[ \t]*(?:[-*+][ \t]+|\d+[.)][ \t]+)?(`{3,}(?=[^`]*$)|~{3,})/;

/** The layout after some words of a line. */
export function afterWords(layout: Layout, words: string): Layout {
  const head = layout.head + words;
  return {
    ...layout,
    head: head.length > 2 * KEPT ? `${head.slice(0, KEPT)} ${head.slice(-KEPT)}` : head,
    ticks: layout.fence === undefined ? ticksAfter(layout.ticks, words) : layout.ticks,
  };
}

/** The layout on the next line. */
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

/** An opening tag at the beginning of a line, except tags that models put around their answers. */
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

/** A mark of a list, quotation, table, heading, comment, listing or label. */
const MARKED = /^\s*(?:[>|]|[-*+](?:\s|$)|[ivx]+[.)]|\/\/|<!--|\d+[.)\t|:]|\d+ \||\p{L}[.)](?:\s|$))/u;
const LABEL = /[:=|]\s*$/;
const OPENED = /(?:[=-]>|→|["'“‘«»„「『([{`])\s*$/;
const WORDS = /\p{L}[\p{L}\p{N}_'.-]*/gu;
const TAG = /^\s*<(?:!--|pre|code|samp|kbd|blockquote|details|example)\b[^\n]*$/i;
const CODE = /^(?: {4}| {0,3}\t)/;
/** A line that the more indented next line belongs to. */
const ITEM = /^ {2}|[:|]\s*$/;

/**
 * Why a call that begins here is only quoted: it is part of a structure, or the words before it announce an
 * example.
 */
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
