/**
 * Where a place in an answer stands as Markdown: at the top level, or in code, a quotation, a list, a table, a listing.
 * A call that stands in one of these is shown, not made. Values are of one place and never change.
 */

export interface Layout {
  /** The fence that is open. */
  readonly fence?: string | undefined;
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
export function afterLine({ fence, ticks, head, last }: Layout): Layout {
  const isBlank = head.trim() === "";
  const [, mark = ""] = FENCE.exec(head) ?? [];
  const next = { head: "", last: isBlank ? last : head };
  if (fence !== undefined) {
    const isClosed = mark.startsWith(fence) && head.trim() === mark;
    return isClosed ? { ...next, ticks: 0 } : { ...next, fence, ticks: 0 };
  }
  return mark === "" ? { ...next, ticks: isBlank ? 0 : ticks } : { ...next, fence: mark, ticks: 0 };
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
const MARKED = /^\s*(?:[-*+>|#]|\/\/|<!--|\d+[.)\t|:]|\d+ \||\p{L}[.)](?:\s|$))/u;
const LABEL = /[:=|]\s*$/;
const OPENED = /["'“‘«»„「『([{`]\s*$/;
const WORDS = /\p{L}[\p{L}\p{N}_'.-]*/gu;
const TAG = /^\s*<(?:!--|pre|code|samp|kbd|blockquote|details|example)\b[^\n]*$/i;
const CODE = /^(?: {4}| {0,3}\t)/;
/** What a line is a part of that is indented by less. */
const ITEM = /^ {2}|[:|]\s*$/;

/** Whether a call that begins here is only shown. */
export function isShown({ fence, ticks, head, last }: Layout): boolean {
  const isPart = head.startsWith("  ") && (MARKED.test(last) || ITEM.test(last));
  if (fence !== undefined || ticks > 0 || CODE.test(head) || isPart) return true;
  if (TAG.test(last) && !last.includes("</")) return true;
  if (head.trim() === "") return isAnnounced(last);
  const words = head.match(WORDS)?.length ?? 0;
  return MARKED.test(head) || OPENED.test(head) || words === 0 || (words === 1 && LABEL.test(head)) ||
    isAnnounced(head);
}

/** Words for an example, which are also parts of paths. */
const EXAMPLE = new RegExp(
  "(?<![\\w./-])(?:examples?|for instance|to illustrate|illustration|hypothetical\\w*|snippet|usage|template)(?![\\w./-]*\\w)|" +
    "beispiel|exempe?l|ejemplo|esempio|voorbeeld|przykład|například|például|esimerkiksi|eksempel|" +
    "contoh|örne[kğ]|например|пример|наприклад|приклад|παράδειγμα|例如|比如|示例|例子|例え|の例|예를 들|예시|ví dụ|مثال|" +
    "उदाहरण|לדוגמה|ตัวอย่าง",
  "iu",
);
/** How what comes is announced as shown, at the end of a sentence. */
const SHOWN = new RegExp(
  [
    String.raw`\b(?:such as|namely|as follows|like (?:this|so|these)|looks? like)$`,
    String.raw`\b(?:would|could|can|might|may) (?:look|write|be)(?: \S+){0,2}$`,
    String
      .raw`\b(?:the|this|following) (?:format|syntax|call) (?:is|of .* is|would be)$|\b(?:this|following) (?:format|syntax)$`,
    String.raw`\b(?:sample|expected) (?:output|answer|call|response)`,
    String.raw`\b(?:must|do|should|don't|never) ?(?:not )?(?:run|call|use|execute|write|do)(?: \w+)?$`,
    "sieht ?.* aus$|ressemble à ceci$|se ve así$|格式如下$|次のよう",
  ].join("|"),
  "iu",
);
const QUOTES =
  /\b(?:docs?|documentation|readme|page|file|log|prompt|spec|manual|model|models|agent|you|they|he|she|user)\b[^.]{0,30}\b(?:shows?|says?|said|contains?|writes?|wrote|emits?|answers?|answered)$/iu;
/** Who goes to work announces no example, and quotes nobody. */
const INTENT = /\b(?:let me|let's|i'll|i will|i'm|i am|i need|i want|what|whether|how)\b/iu;

/** Its last sentence alone counts, unless it ends with a full stop: then it announces nothing. */
export function isAnnounced(line: string): boolean {
  const sentences = line.replace(/`[^`]*`/g, "").trim().split(/(?<=[.!?…])\s+(?=\p{Lu})|[。！？]/u);
  const last = sentences.findLast((sentence) => sentence.trim() !== "")?.trim() ?? "";
  const words = last.replace(/[\s:：*_]+$/u, "");
  if (/\b(?:e\.?g|i\.?e|ex)\.?$/i.test(words)) return true;
  if (/[.!?…]$/u.test(words)) return false;
  return SHOWN.test(words) || EXAMPLE.test(words) || (QUOTES.test(words) && !INTENT.test(words));
}
