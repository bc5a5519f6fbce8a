/** Converts a script's answer to a stream of deltas, independent of the wire. Pure. */
import type { Answer, Control, Ending, ScriptedPart } from "./answer.ts";

/** The model's output, piece by piece; `index` counts the calls of the answer from 0. */
export type Content =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "thought"; readonly text: string }
  | {
    readonly kind: "call_start";
    readonly index: number;
    readonly id: string;
    readonly name: string;
    readonly arguments: string;
  }
  | { readonly kind: "call_piece"; readonly index: number; readonly text: string }
  | { readonly kind: "call_end"; readonly index: number };

type Delta = Content | Control | Ending;

type Call = Extract<ScriptedPart, { kind: "call" }>;

/** Characters in a piece of a call's arguments, unless the script has `pieces`. */
const argumentPiece = 10;
/** Characters in a piece of `big`: single words would make millions of frames. */
const bigPiece = 1024;

/** The deltas of `answer`; its first call gets the id `call_<firstCall>`. */
export function* plan(answer: Answer, firstCall: number): Generator<Delta> {
  let size: number | undefined;
  let calls = 0;
  for (const group of groups(answer)) {
    const first = group[0];
    if (first === undefined) continue;
    if (first.kind === "call") {
      const all = group.filter((part) => part.kind === "call");
      yield* callDeltas(all, calls, firstCall, size ?? argumentPiece);
      calls += all.length;
    } else if (first.kind === "pieces") size = first.characters;
    else if (first.kind === "say") yield* texts("text", size ? pieces(first.text, size) : words(first.text));
    else if (first.kind === "think") {
      yield* texts("thought", size ? pieces(first.text, size) : words(first.text));
    } else if (first.kind === "flood") yield* texts("text", flood(first.tokens));
    else if (first.kind === "big") yield* texts("text", big(first.bytes, size ?? bigPiece));
    else yield first;
  }
}

/** Every part separately; with `interleave`, adjacent calls together. */
function groups(answer: Answer): readonly (readonly ScriptedPart[])[] {
  const result: ScriptedPart[][] = [];
  for (const part of answer.parts) {
    const last = result.at(-1);
    if (answer.interleave && part.kind === "call" && last?.[0]?.kind === "call") last.push(part);
    else result.push([part]);
  }
  return result;
}

function* callDeltas(
  calls: readonly Call[],
  base: number,
  firstCall: number,
  size: number,
): Generator<Content> {
  for (const [at, call] of calls.entries()) {
    const index = base + at;
    yield {
      kind: "call_start",
      index,
      id: `call_${firstCall + index}`,
      name: call.name,
      arguments: call.arguments,
    };
  }
  const waiting = calls.map((call) => pieces(call.arguments, size));
  while (waiting.some((rest) => rest.length > 0)) {
    for (const [at, rest] of waiting.entries()) {
      const text = rest.shift();
      if (text !== undefined) yield { kind: "call_piece", index: base + at, text };
    }
  }
  for (const at of calls.keys()) yield { kind: "call_end", index: base + at };
}

function* texts(kind: "text" | "thought", all: Iterable<string>): Generator<Content> {
  for (const text of all) yield { kind, text };
}

/** A word with the white space before it, as models stream it. */
function words(text: string): string[] {
  return text.match(/\s*\S+|\s+$/g) ?? [];
}

/** Pieces of `size` code points, so that none ends within a character. */
function pieces(text: string, size: number): string[] {
  const characters = [...text];
  const count = Math.ceil(characters.length / size);
  return Array.from({ length: count }, (_, at) => characters.slice(at * size, (at + 1) * size).join(""));
}

function* flood(tokens: number): Generator<string> {
  for (let at = 1; at <= tokens; at++) yield `word${at} `;
}

/** Exactly `bytes` ASCII characters in numbered lines. */
function* big(bytes: number, size: number): Generator<string> {
  let made = 0;
  let text = "";
  for (let line = 1; made < bytes; line++) {
    text += `${line} The quick brown fox jumps over the lazy dog.\n`;
    while (made < bytes && (text.length >= size || made + text.length >= bytes)) {
      const piece = text.slice(0, Math.min(size, bytes - made));
      text = text.slice(piece.length);
      made += piece.length;
      yield piece;
    }
  }
}
