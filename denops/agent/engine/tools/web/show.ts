/** Text of the web as models see it: in parts, and fenced, because strangers have written it. */
import type { WebText } from "../../ports/web.ts";
import type { FetchedContent } from "../../../protocol/results/web.ts";
import { fenced } from "../../../shared/text/fence.ts";
import { toMarkdown } from "./markdown.ts";

/** Characters of a part. A part ends at the end of a paragraph or a line if one ends in its last quarter. */
const LONGEST_PART = 20_000;
const EARLIEST_END = 15_000;
/** Longer JSON stays as it is. */
const LONGEST_JSON = 2_000_000;
/** A page of this much HTML and less text is made by a script. */
const MUCH_HTML = 1_000;
const LITTLE_TEXT = 80;
const LONGEST_TITLE = 200;

export async function webText(content: FetchedContent): Promise<WebText> {
  const { url, elsewhere, status, type, kind, isCut, proxy } = content;
  const failed = status >= 400;
  const notes = [
    ...failed ? [`HTTP ${status}`] : [],
    ...proxy === undefined ? [] : [`through the proxy ${oneLine(proxy)}`],
    ...isCut ? [kind === "pdf" ? "only its beginning" : "only its first 10 MB"] : [],
  ];
  const about = (more: readonly string[] = []) => [oneLine(url), ...notes, ...more].join(", ");
  if (elsewhere !== undefined) {
    const advice = `It redirects to another host: ${oneLine(elsewhere)}. Fetch that address if you need it.`;
    return { about: about(), failed, problem: `it redirects to ${oneLine(elsewhere)}`, parts: [advice] };
  }
  if (kind === "pdf") {
    if (content.body !== "") {
      return { about: about(["text of a PDF"]), failed, parts: parts(clean(content.body)) };
    }
    const problem = `this PDF cannot be read: ${oneLine(content.problem ?? "it is empty")}`;
    const advice = `${problem.replace(/^t/, "T")}. Look for the same as HTML, or ask the user.`;
    return { about: about(), failed: true, problem, parts: [advice] };
  }
  if (kind !== "text") {
    const advice = `This is no text (${oneLine(type) || "of an unknown type"}), and cannot be shown.`;
    return { about: about(), failed: true, problem: "it is no text", parts: [advice] };
  }
  const known = { about: about(), failed, ...failed ? { problem: `HTTP ${status}` } : {} };
  if (!isHtml(content)) return { ...known, parts: parts(clean(plainText(content))) };
  const page = await toMarkdown(content.body, url);
  const title = page.title.slice(0, LONGEST_TITLE);
  const hasHeading = /^# /m.test(page.text.slice(0, LONGEST_PART));
  const text = clean(hasHeading || title === "" ? page.text : `# ${title}\n\n${page.text}`.trim());
  if (page.text.length < LITTLE_TEXT && content.body.length > MUCH_HTML && /<script/i.test(content.body)) {
    const advice =
      `${text}\n\nThis page has almost no text of its own: a script makes it, and none runs here. ` +
      "Look for another page, its source or an API.";
    const problem = "a script makes this page, and none runs here";
    return { about: about(), failed: true, problem, parts: [advice.trim()] };
  }
  return { ...known, about: about(page.isCut ? ["the rest is nested too deep"] : []), parts: parts(text) };
}

/** @param number from 1 @param after a sentence of ours behind the text */
export function fencedPart(
  { about, parts }: WebText,
  number: number,
  after = number < parts.length ? `It continues on page ${number + 1}.` : undefined,
): string {
  const place = parts.length === 1 ? "" : `, page ${number} of ${parts.length}`;
  return fenced({
    about: `${about}${place}`,
    kind: "web page",
    text: parts[number - 1] ?? "",
    ...(after === undefined ? {} : { after }),
  });
}

function isHtml({ type, body }: FetchedContent): boolean {
  if (/^(?:text\/html|application\/xhtml\+xml)$/.test(type)) return true;
  return ["", "text/plain"].includes(type) && /^\s{0,100}<(?:!doctype html|html)\b/i.test(body.slice(0, 200));
}

function plainText({ type, body }: FetchedContent): string {
  if (!/[/+]json$/.test(type) || body.length > LONGEST_JSON) return body;
  try {
    return JSON.stringify(JSON.parse(body), null, 2);
  } catch {
    return body;
  }
}

/** Without characters that nobody sees: they can carry text that only a model reads. */
function clean(text: string): string {
  return text
    // deno-lint-ignore no-control-regex -- they are what is removed
    .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/g, "")
    .replace(/[\u200b\u2060-\u2064\u202a-\u202e\u2066-\u2069\ufeff\u{e0000}-\u{e007f}]/gu, "")
    .replace(/\r\n?/g, "\n")
    .toWellFormed();
}

export function oneLine(text: string): string {
  return clean(text).replace(/\s+/g, " ").trim();
}

function parts(text: string): readonly string[] {
  const found: string[] = [];
  for (let at = 0; at < text.length;) {
    const end = at + LONGEST_PART >= text.length ? text.length : endOfPart(text, at);
    found.push(text.slice(at, end).trimEnd());
    at = end;
  }
  return found.length === 0 ? ["(empty)"] : found;
}

function endOfPart(text: string, at: number): number {
  const window = text.slice(at, at + LONGEST_PART);
  const paragraph = window.lastIndexOf("\n\n");
  const line = window.lastIndexOf("\n");
  const end = [paragraph, line].find((end) => end >= EARLIEST_END);
  if (end !== undefined) return at + end + 1;
  // Not in the middle of a character.
  return at + (/[\ud800-\udbff]$/.test(window) ? LONGEST_PART - 1 : LONGEST_PART);
}
