/** Notes about folded messages, taken without a model. Pure. */
import * as z from "../../deps/zod.ts";
import type { MessageEntry } from "../log/entries.ts";
import type { Part } from "../log/events.ts";

export const Note = z.object({
  kind: z.enum(["written", "read", "failed", "said", "definition"]),
  /** Milliseconds since 1970. */
  at: z.number(),
  /** The id of the call that showed it. Absent: any message with the note's text shows it. */
  call: z.string().exactOptional(),
});
export type Note = Readonly<z.infer<typeof Note>>;

/** Sections in this order, with the number of their newest notes. */
const TOLD: readonly (readonly [Note["kind"], string, number])[] = [
  ["said", "the user said", 5],
  ["written", "you wrote", 12],
  ["failed", "what failed", 2],
  ["definition", "you looked up", 30],
  ["read", "you read", 8],
];

/** Characters of all definitions, of all other notes, and of one. */
const MOST_DEFINITIONS_TOLD = 800;
const MOST_TOLD = 700;
export const LONGEST_NOTE = 160;
/** Stored notes, and those of definitions among them. */
const MOST_NOTES = 100;
const MOST_DEFINITIONS = 30;

const PREFERENCE =
  /^(?:(?:please|and|but|also|ok|so),?\s+)*(?:always|never|from now on|i(?:'d| would)? (?:always |never )?prefer)\b/i;

/** The user's sentences that state preferences, verbatim. */
export function preferencesIn(parts: readonly Part[]): readonly string[] {
  const texts = parts.flatMap((part) => part.type === "text" ? [part.text] : []);
  // Code and quotations are not the user's own words.
  const prose = texts.join("\n").replace(/^ {0,3}(```|~~~)[^]*?(?:^ {0,3}\1|$(?![^]))/gm, "").replace(
    /^>.*$/gm,
    "",
  );
  return prose.split(/(?<=[.!?])\s+|\n/).map((text) => text.trim())
    .filter((text) => text.length <= LONGEST_NOTE && PREFERENCE.test(text) && !text.endsWith("?"));
}

/** The oldest surplus notes: of definitions, then of all, reads first. @param notes by text */
export function superfluous(notes: ReadonlyMap<string, Note>): readonly string[] {
  const rank = ({ kind, at }: Note) => (kind === "read" || kind === "definition" ? 0 : 1e15) + at;
  const sorted = [...notes].sort(([, a], [, b]) => rank(a) - rank(b));
  const definitions = sorted.filter(([, { kind }]) => kind === "definition");
  const old = new Set(definitions.slice(0, Math.max(0, definitions.length - MOST_DEFINITIONS)));
  const rest = sorted.filter((note) => !old.has(note));
  return [...old, ...rest.slice(0, Math.max(0, rest.length - MOST_NOTES))].map(([text]) => text);
}

/** The note of a definition. @param file as the model names it */
export function definitionNote(name: string, file: string, line: number): string {
  return `${name} ${file}:${line}`;
}

/** Whether a note is about a definition in this file, and of this name unless it is undefined. */
export function isDefinitionIn(text: string, { kind }: Note, file: string, name?: string): boolean {
  const place = text.replace(/:\d+$/, "");
  return kind === "definition" &&
    (name === undefined ? place.endsWith(` ${file}`) : place === `${name} ${file}`);
}

/**
 * The notes that the messages no longer contain, as one line. @param notes by text @param masked ids of calls whose
 * results are masked
 */
export function notesText(
  notes: ReadonlyMap<string, Note>,
  seen: readonly MessageEntry[],
  masked: Pick<ReadonlyMap<string, string>, "has"> = new Map(),
): string | undefined {
  const visibleText = seen.map(textOf).join("\n");
  const visibleCalls = new Set(
    seen.flatMap((entry) => entry.type === "tool_result" && !masked.has(entry.id) ? [entry.id] : []),
  );
  const isShown = (text: string, { call }: Note) =>
    call === undefined ? visibleText.includes(text) : visibleCalls.has(call);
  let others = MOST_TOLD;
  const sections = TOLD.flatMap(([kind, what, most]) => {
    let room = kind === "definition" ? MOST_DEFINITIONS_TOLD : others;
    const texts = [...notes].filter(([text, note]) => note.kind === kind && !isShown(text, note))
      .sort(([, a], [, b]) => b.at - a.at).slice(0, most).map(([text]) =>
        kind === "said" ? `"${text}"` : text
      )
      .filter((text) => (room -= text.length + 2) > 0);
    if (kind !== "definition") others = room;
    return texts.length === 0 ? [] : [`${what} ${texts.join(", ")}`];
  });
  return sections.length === 0
    ? undefined
    : `Earlier in this session, not shown above any more: ${sections.join("; ")}`;
}

function textOf(entry: MessageEntry): string {
  switch (entry.type) {
    case "user_message":
      return entry.parts.map((part) => "text" in part ? part.text : "").join("\n");
    case "assistant_message":
      return [entry.text, ...entry.calls.map((call) => call.arguments)].join("\n");
    case "control_note":
    case "tool_result":
      return entry.text;
  }
}
