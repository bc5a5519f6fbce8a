/** The parts of a request, and the part that the provider has not cached. Pure. */
import type { ContextPart, PrefixBreak } from "../../protocol/requests.ts";
import type { Message } from "../log/messages.ts";
import type { Prompt } from "../log/model_request.ts";
import type { Mode } from "./modes.ts";
import { rulesId } from "./chosen.ts";
import { NO_PROJECT, rulesText } from "./project.ts";
import { systemParts, type ViewInputs } from "./view.ts";

export interface SentPart {
  readonly part: ContextPart;
  /** As they are sent; tools as indented JSON. */
  readonly texts: readonly string[];
}

/** The parts before the messages, in the order of the request. */
export function outline(prompt: Prompt, { sections }: Mode, inputs: ViewInputs): readonly SentPart[] {
  const system = systemParts(sections, inputs).flatMap(({ name, text }): readonly SentPart[] => {
    if (name !== "rules") {
      return [{ part: { group: "system", name, characters: text.length }, texts: [text] }];
    }
    const { rules, ...marked } = inputs.project ?? NO_PROJECT;
    return rules.map((file) => {
      const text = rulesText([file], marked);
      const { path: name, bytes } = file;
      const part = { group: "rules", name, bytes, id: rulesId(name), characters: text.length } as const;
      return { part, texts: [text] };
    });
  });
  const tools = prompt.tools.map((tool): SentPart => ({
    part: { group: "tools", name: tool.name, characters: JSON.stringify(tool).length },
    texts: [JSON.stringify(tool, undefined, 2)],
  }));
  return [...tools, ...system];
}

/** The place where a request differs from the previous one; undefined if it extends that one. */
export function firstBreak(before: Prompt, now: Prompt): PrefixBreak | undefined {
  if (continues(before, now)) return undefined;
  const was = pieces(before);
  const is = pieces(now);
  const at = was.findIndex(({ text }, index) => is[index]?.text !== text);
  const [earlier, later] = [was[at], is[at]];
  if (earlier === undefined) return undefined;
  const same = [...earlier.text].findIndex((character, index) => later?.text[index] !== character);
  const kept = sizeOf(was.slice(0, at)) + (same < 0 ? earlier.text.length : same);
  return { where: earlier.where, reason: reasonOf(earlier, before, now), kept, sent: sizeOf(is) };
}

/** Characters of the whole prompt. */
export function lengthOf(prompt: Prompt): number {
  return sizeOf(pieces(prompt));
}

/** Runs for each request, so it compares without serializing: most strings are identical objects. */
function continues(before: Prompt, now: Prompt): boolean {
  return before.system === now.system && before.tools.length === now.tools.length &&
    before.tools.every((tool, at) => tool === now.tools[at]) &&
    before.messages.every((message, at) => isSame(message, now.messages[at]));
}

function isSame(one: unknown, other: unknown): boolean {
  if (one === other) return true;
  if (typeof one !== "object" || typeof other !== "object" || one === null || other === null) return false;
  const entries = Object.entries(one);
  return entries.length === Object.keys(other).length &&
    entries.every(([key, value]) => isSame(value, Reflect.get(other, key)));
}

interface Piece {
  readonly kind: "tool" | "system" | "message";
  readonly where: string;
  readonly text: string;
}

/** In the order in which a provider reads them. */
function pieces({ tools, system, messages }: Prompt): readonly Piece[] {
  return [
    ...tools.map((tool): Piece => ({ kind: "tool", where: `tool ${tool.name}`, text: JSON.stringify(tool) })),
    { kind: "system", where: "system prompt", text: system },
    ...messages.map((message: Message, at): Piece => ({
      ...{ kind: "message", where: `message ${at + 1}`, text: JSON.stringify(message) },
    })),
  ];
}

function sizeOf(list: readonly Piece[]): number {
  return list.reduce((sum, { text }) => sum + text.length, 0);
}

function reasonOf({ kind }: Piece, before: Prompt, now: Prompt): string {
  const names = (prompt: Prompt) => new Set(prompt.tools.map(({ name }) => name));
  const off = names(before).difference(names(now));
  const on = names(now).difference(names(before));
  if (off.size + on.size > 0) {
    return [
      ...off.size > 0 ? [`switched off: ${[...off].join(", ")}`] : [],
      ...on.size > 0 ? [`switched on: ${[...on].join(", ")}`] : [],
    ].join("; ");
  }
  if (kind === "tool") return "a tool is described otherwise";
  if (kind === "system") return "the system prompt is another one";
  if (isSame(before.messages.map(unthought), now.messages.slice(0, before.messages.length).map(unthought))) {
    return "thoughts of the turn before are not sent again";
  }
  return now.messages.length < before.messages.length
    ? "messages were left out"
    : "an earlier message is another one";
}

function unthought(message: Message): Message {
  return message.role === "assistant" ? { ...message, reasoning: [] } : message;
}
