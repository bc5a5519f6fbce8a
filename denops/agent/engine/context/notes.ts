/** Notes about folded messages, taken without a model. Pure. */
import { z } from "../../deps/zod.ts";
import type { MessageEntry } from "../log/entries.ts";
import type { Part } from "../log/events.ts";

export const Note = z.object({
  kind: z.enum(["written", "read", "failed", "said"]),
  /** Milliseconds since 1970. */
  at: z.number(),
});
export type Note = Readonly<z.infer<typeof Note>>;

/** Sections in this order, with the number of their newest notes. */
const TOLD: readonly (readonly [Note["kind"], string, number])[] = [
  ["said", "the user said", 5],
  ["written", "you wrote", 12],
  ["failed", "what failed", 2],
  ["read", "you read", 8],
];

/** Characters of all notes, and of one. */
const MOST_TOLD = 700;
export const LONGEST_NOTE = 160;
/** Stored notes. */
const MOST_NOTES = 100;

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

/** The oldest surplus notes, reads first. @param notes by text */
export function superfluous(notes: ReadonlyMap<string, Note>): readonly string[] {
  const rank = ({ kind, at }: Note) => (kind === "read" ? 0 : 1e15) + at;
  return [...notes].sort(([, a], [, b]) => rank(a) - rank(b)).slice(0, Math.max(0, notes.size - MOST_NOTES))
    .map(([text]) => text);
}

/** The notes that the messages no longer contain, as one line. @param notes by text */
export function notesText(
  notes: ReadonlyMap<string, Note>,
  seen: readonly MessageEntry[],
): string | undefined {
  const visibleText = seen.map(textOf).join("\n");
  let room = MOST_TOLD;
  const sections = TOLD.flatMap(([kind, what, most]) => {
    const texts = [...notes].filter(([text, note]) => note.kind === kind && !visibleText.includes(text))
      .sort(([, a], [, b]) => b.at - a.at).slice(0, most).map(([text]) =>
        kind === "said" ? `"${text}"` : text
      )
      .filter((text) => (room -= text.length + 2) > 0);
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
