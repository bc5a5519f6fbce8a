/**
 * Parses gpt-oss messages from servers that leave their marks in the text. The analysis becomes a thought;
 * messages to a tool stay unchanged for text_tools/syntax/harmony.ts; the rest becomes text. Source:
 * github.com/openai/harmony, docs/format.md. Muse uses such messages too and addresses its thoughts to itself
 * (sglang, function_call/muse_glimmer_format.py).
 */
const BEGINNINGS = ["<|channel|>", "<|start|>", "to=self<|message|>", "to=user<|message|>"];
const MESSAGE = "<|message|>";
const ENDS = ["<|end|>", "<|return|>", "<|call|>", "<|eom|>", "<|eot|>"];
const MARKS = [...ENDS, ...BEGINNINGS];
const ANY_MARK = /<\|(?:end|return|call|eom|eot|channel|start)\|>/;
const LONGEST = Math.max(...MARKS.map((mark) => mark.length));
/** Characters of a header: role, recipient, channel, content type. */
const LONGEST_HEADER = 300;

interface HarmonyPiece {
  readonly type: "text" | "thought";
  readonly text: string;
}

export class Harmony {
  #state: "header" | "thought" | "text" | "call" | "plain" = "header";

  static begins(text: string): boolean {
    return BEGINNINGS.some((mark) => text.startsWith(mark));
  }

  /** Whether the text may turn into the beginning of a mark. */
  static mayBegin(text: string): boolean {
    return BEGINNINGS.some((mark) => mark.startsWith(text));
  }

  /** @returns the certain pieces, and the rest, to be passed again with the text that follows */
  read(text: string, isEnd: boolean): { readonly pieces: readonly HarmonyPiece[]; readonly rest: string } {
    const pieces: HarmonyPiece[] = [];
    let rest = text;
    for (;;) {
      if (this.#state === "header") {
        const header = this.#header(rest, isEnd);
        if (header === undefined) return { pieces, rest: isEnd ? "" : rest };
        if (header.text !== "") pieces.push({ type: "text", text: header.text });
        rest = header.rest;
        continue;
      }
      const at = this.#state === "plain" ? -1 : rest.search(ANY_MARK);
      const type = this.#state === "thought" ? "thought" : "text";
      if (at === -1) {
        const end = isEnd || this.#state === "plain" ? rest.length : safeEnd(rest);
        if (end > 0) pieces.push({ type, text: rest.slice(0, end) });
        return { pieces, rest: rest.slice(end) };
      }
      const mark = ENDS.find((one) => rest.startsWith(one, at)) ?? "";
      const end = at + (this.#state === "call" ? mark.length : 0);
      if (end > 0) pieces.push({ type, text: rest.slice(0, end) });
      rest = rest.slice(at + mark.length);
      this.#state = "header";
    }
  }

  /** Undefined if the header is incomplete. `text`: text that is not a header, or the header of a call. */
  #header(text: string, isEnd: boolean): { readonly text: string; readonly rest: string } | undefined {
    const from = text.trimStart();
    const isOne = Harmony.begins(from) || Harmony.mayBegin(from);
    const end = from.indexOf(MESSAGE);
    if (isOne && end === -1 && !isEnd && from.length <= LONGEST_HEADER) return undefined;
    if (from === "") return undefined;
    if (!isOne || end === -1 || end > LONGEST_HEADER) {
      this.#state = "plain";
      return { text: "", rest: from };
    }
    const header = from.slice(0, end);
    const rest = from.slice(end + MESSAGE.length);
    const isCall = /\bto=(?!self\b|user\b)/.test(header);
    const isThought = /<\|channel\|>\s*analysis|\bto=self\b/.test(header);
    this.#state = isCall ? "call" : isThought ? "thought" : "text";
    return { text: isCall ? header + MESSAGE : "", rest };
  }
}

/** Where an incomplete mark at the end begins. */
function safeEnd(text: string): number {
  const from = Math.max(0, text.length - LONGEST);
  for (let at = from; at < text.length; at++) {
    if (MARKS.some((mark) => mark.startsWith(text.slice(at)))) return at;
  }
  return text.length;
}
