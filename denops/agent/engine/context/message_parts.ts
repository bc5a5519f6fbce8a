/** The parts of a view's messages: which can be dropped or pinned, and which are folded first. Pure. */
import type { ContextPart, RequestResult } from "../../protocol/requests.ts";
import type { Compaction, MessageEntry, ResultEntry } from "../log/entries.ts";
import type { ToolCall } from "../log/messages.ts";
import { fileId, givenId, resultId, rulesId, withoutDropped } from "./chosen.ts";
import { callsOf, type Foldable, maskLine, planMasks } from "./folding/fold_plan.ts";
import { folded, pinnedText } from "./folding/folds.ts";
import type { SentPart } from "./outline.ts";
import { partsText } from "./view.ts";

interface Parted extends Foldable {
  readonly compaction: Compaction | undefined;
}

/** A part, and the lines that replace its messages once it is dropped. */
export interface MessagePart extends SentPart {
  /** Id of a dropped message → its line. */
  readonly lines: ReadonlyMap<string, string>;
}

/** The content of a request, the text of each part, and how to drop it. */
export interface ContextPage extends RequestResult<"context"> {
  readonly lines: ReadonlyMap<string, MessagePart["lines"]>;
  /** The texts of each part. */
  readonly texts: readonly (readonly string[])[];
}

const DROPPED = "dropped by the user";

/** In the order of their first messages. */
export function messageParts(input: Parted): readonly MessagePart[] {
  const { messages, masked, chosen, compaction } = input;
  const parts = new Parts();
  if (compaction !== undefined) addCompaction(parts, compaction, input);
  const sent = withoutDropped(folded(messages, { masked }), chosen);
  const calls = callsOf(messages);
  for (const [at, original] of messages.entries()) {
    const now = sent[at] ?? original;
    if (original.type === "tool_result") addResult(parts, original, now, calls.get(original.id), input);
    else addSaid(parts, original, now);
  }
  const next = nextMasked(input);
  return parts.all().map(({ part, lines, texts }) => ({
    lines,
    texts,
    part: {
      ...part,
      ...([...lines.keys()].some((id) => next.has(id)) ? { next: true } : {}),
      ...stateOf(part.id, lines, input),
    },
  }));
}

class Parts {
  readonly #parts = new Map<string, { part: ContextPart; lines: Map<string, string>; texts: string[] }>();

  all(): readonly MessagePart[] {
    return [...this.#parts.values()];
  }

  /** Messages of one kind without an id form one part. */
  count(group: ContextPart["group"], name: string, text: string): void {
    this.#add(`${group} ${name}`, { group, name }, text);
  }

  /** @param line replaces `text` once it is dropped, under the id `of` or that of the part */
  add(
    part: Omit<ContextPart, "characters"> & { readonly id: string },
    text: string,
    line: string,
    of = part.id,
  ) {
    this.#add(part.id, part, text).set(of, line);
  }

  #add(key: string, part: Omit<ContextPart, "characters">, text: string): Map<string, string> {
    const known = this.#parts.get(key);
    const lines = known?.lines ?? new Map<string, string>();
    const characters = (known?.part.characters ?? 0) + text.length;
    const texts = known?.texts ?? [];
    texts.push(text);
    this.#parts.set(key, { part: { ...part, characters }, lines, texts });
    return lines;
  }
}

function addCompaction(parts: Parts, compaction: Compaction, { masked, chosen }: Parted): void {
  const { pinned = [], ...rest } = compaction;
  const [summary] = folded([], { masked, compaction: rest });
  if (summary?.type === "control_note") parts.count("messages", "summary of what was folded", summary.text);
  for (const one of pinned) {
    const group = one.id.startsWith(resultId("")) ? "results" : "files";
    const text = chosen.dropped.has(one.id) ? "" : pinnedText(one);
    parts.add({ group, name: one.title, id: one.id }, text, `[${one.title}: ${DROPPED}]`);
  }
}

function addSaid(parts: Parts, original: Exclude<MessageEntry, ResultEntry>, sent: MessageEntry): void {
  switch (original.type) {
    case "user_message":
      for (const [at, part] of original.parts.entries()) {
        const now = sent.type === "user_message" ? sent.parts[at] : undefined;
        const text = now === undefined ? "" : partsText([now]);
        if (part.type !== "file") parts.count("messages", "your messages", text);
        else {
          const { uri: name } = part;
          parts.add({ group: "files", name, id: givenId(name) }, text, `[Contents of ${name}: ${DROPPED}]`);
        }
      }
      return;
    case "assistant_message":
      parts.count("messages", "answers", original.text);
      for (const call of original.calls) parts.count("messages", "calls", call.name + call.arguments);
      return;
    case "control_note": {
      const { text, path } = sent.type === "control_note" ? sent : original;
      if (path === undefined) return parts.count("messages", "notes on files and on the moment", text);
      return parts.add(
        { group: "rules", name: path, id: rulesId(path) },
        text,
        `[Rules of ${path}: ${DROPPED}]`,
      );
    }
  }
}

function addResult(
  parts: Parts,
  original: ResultEntry,
  sent: MessageEntry,
  call: ToolCall | undefined,
  input: Parted,
): void {
  const { id } = original;
  const text = sent.type === "tool_result" ? sent.text : original.text;
  if (input.masked.has(id)) return parts.count("results", "results that are a line each", text);
  const { title, path } = call === undefined ? { title: original.name, path: undefined } : input.about(call);
  const line = maskLine(original, title, DROPPED);
  if (path === undefined) parts.add({ group: "results", name: title, id: resultId(id) }, text, line);
  else parts.add({ group: "files", name: path, id: fileId(path) }, text, line, resultId(id));
}

function stateOf(
  id: string | undefined,
  lines: ReadonlyMap<string, string>,
  { chosen: { dropped, pinned } }: Parted,
): Pick<ContextPart, "state"> {
  if (id !== undefined && pinned.has(id)) return { state: "pinned" };
  return lines.size > 0 && lines.keys().every((one) => dropped.has(one)) ? { state: "dropped" } : {};
}

/** Ids of the results that are masked first when the window fills up. */
function nextMasked(foldable: Foldable): ReadonlySet<string> {
  return new Set(planMasks(foldable, () => true)?.results.map(({ id }) => resultId(id)));
}
