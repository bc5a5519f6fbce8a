/**
 * Builds the prompt of a request from messages of the log. Pure, and the only maker of prompts: the same messages give
 * the same bytes, so requests extend earlier ones.
 */
import { familyOf } from "../../models/families.ts";
import type { AssistantEntry, ControlNote, MessageEntry, ResultEntry } from "../log/entries.ts";
import type { Part, UserMessage } from "../log/events.ts";
import { type Image, type Message } from "../log/messages.ts";
import { Prompt, type ToolSpec } from "../log/model_request.ts";
import { isRefused } from "./refused.ts";
import type { Mode } from "./modes.ts";
import { NO_PROJECT, type Project } from "./project.ts";
import type { Environment, PromptSection } from "./sections.ts";

export interface ViewInputs {
  readonly environment: Environment;
  readonly tools: readonly ToolSpec[];
  /** The model's name; "" for none in particular. */
  readonly model?: string;
  /** A small model, which gets less. */
  readonly small?: boolean;
  /** It makes one call at a time. */
  readonly oneByOne?: boolean;
  /** It works for another agent. */
  readonly isSubagent?: boolean;
  /** Undefined: unknown. */
  readonly project?: Project | undefined;
  readonly scratch?: string | undefined;
}

/** Marks the end of an interrupted answer. */
const INTERRUPTED = "[The answer was interrupted here.]";

/**
 * Replaces refused text. Source: platform.claude.com/docs, "Streaming refusals": everything after it would be refused
 * too.
 */
const REFUSED_MESSAGE = "[A message that a filter refused is left out here.]";
const REFUSED_ANSWER = "[The answer was refused by a filter.]";

/** The result of a call whose outcome is unknown. */
export const CALL_INTERRUPTED =
  "Interrupted before it had ended: it may have done nothing, a part or all. Look before you go on.";

export function view(
  messages: readonly MessageEntry[],
  { sections, tools: toolList, effort }: Mode,
  inputs: ViewInputs,
): Prompt {
  const { tools } = inputs;
  return new Prompt(
    systemParts(sections, inputs).map(({ text }) => text).join("\n\n"),
    messagesOf(messages),
    toolList === "none" ? [] : tools,
    toolList === "none" || toolList === "listed",
    effort,
  );
}

/** The sections of the system prompt, without empty ones. */
export function systemParts(
  sections: readonly PromptSection[],
  inputs: ViewInputs,
): readonly { readonly name: string; readonly text: string }[] {
  const { environment, model = "", small = false, oneByOne = false, isSubagent = false, scratch } = inputs;
  const { project = NO_PROJECT } = inputs;
  const sectionInput = { environment, family: familyOf(model), oneByOne, isSubagent, project, scratch };
  return sections.map(({ name, text, brief }) => ({
    name,
    text: (small ? brief ?? text : text)(sectionInput),
  }))
    .filter(({ text }) => text !== "");
}

/** The instructions of a mode, for the first message in it. */
export function modeText(
  { messageSections = [] }: Pick<Mode, "messageSections">,
  inputs: ViewInputs,
): string {
  const { mark } = inputs.project ?? NO_PROJECT;
  const text = systemParts(messageSections, inputs).map(({ text }) => text).join("\n\n");
  return `<mode_${mark}>${text}</mode_${mark}>`;
}

function messagesOf(entries: readonly MessageEntry[]): readonly Message[] {
  const messages: Message[] = [];
  const keeps = new KeptThoughts(entries);
  for (let at = 0; at < entries.length;) {
    const refused = isRefused(entries, at);
    const entry = entries[at++];
    // Its following entries: notes of a user's message, or results of an answer.
    let end = at;
    for (let next = entries[end]; next !== undefined && isWith(entry, next); next = entries[end]) end += 1;
    const own = entries.slice(at, end);
    at = end;
    switch (entry?.type) {
      case "user_message":
        messages.push(userMessage(entry, own.filter(isNote), refused));
        break;
      case "assistant_message":
        messages.push(assistantMessage(entry, keeps), ...results(entry, own));
        messages.push(...own.filter(isNote).filter((note) => !isWithResults(entry, note)).map(noteMessage));
        break;
      case "control_note":
        messages.push(noteMessage(entry));
        break;
      default:
        // Providers accept no result without its call.
        entry satisfies ResultEntry | undefined;
    }
  }
  return messages;
}

function isWith(entry: MessageEntry | undefined, other: MessageEntry): boolean {
  switch (entry?.type) {
    case "user_message":
      return isNote(other) && WITH_PROMPT.has(other.reason);
    case "assistant_message":
      return isResult(other) || isNote(other);
    default:
      return false;
  }
}

const WITH_PROMPT: ReadonlySet<ControlNote["reason"]> = new Set([
  "files",
  "context",
  "agents",
  "hook",
  "mode",
]);

const WITH_RESULTS: ReadonlySet<ControlNote["reason"]> = new Set(["agents", "hook", "mode", "steering"]);

/** Some models accept no user message after results, so notes with results go into the last result. */
function isWithResults({ calls }: AssistantEntry, { reason }: ControlNote): boolean {
  return reason === "rules" || reason === "steps" || (WITH_RESULTS.has(reason) && calls.length > 0);
}

function isNote(entry: MessageEntry): entry is ControlNote {
  return entry.type === "control_note";
}

function isResult(entry: MessageEntry): entry is ResultEntry {
  return entry.type === "tool_result";
}

function noteMessage({ text, images }: ControlNote): Message {
  return { role: "user", text, ...(images === undefined ? {} : { images }) };
}

/** Notes about files come before the question. @param refused the question is left out */
function userMessage({ parts }: UserMessage, notes: readonly ControlNote[], refused: boolean): Message {
  const question = refused ? REFUSED_MESSAGE : partsText(parts);
  const text = notes.length === 0 ? question : `${notes.map(({ text }) => text).join("\n")}\n\n${question}`;
  return { role: "user", text, ...(refused ? {} : imagesOf(parts)) };
}

/** A user's message with its attachments. */
export function partsText(parts: readonly Part[]): string {
  return parts.map(partText).join("\n\n");
}

export function imagesOf(parts: readonly Part[]): { readonly images?: readonly Image[] } {
  const images = parts.flatMap((part) =>
    part.type === "given" && part.image !== undefined ? [part.image] : []
  );
  return images.length === 0 ? {} : { images };
}

function partText(part: Part): string {
  switch (part.type) {
    case "text":
    case "given":
      return part.text;
    case "file":
      return `Contents of ${part.uri} (already provided, do not read again):\n${part.text}`;
    case "link":
      return `See ${part.uri}`;
    case "unsupported":
      return `[${part.kind} is not supported]`;
  }
}

/** The plain thoughts that are still sent: those of the current turn, and of turns with calls. */
class KeptThoughts {
  readonly #turns = new Map<MessageEntry, number>();
  readonly #calling = new Set<number>();
  #last = 0;

  constructor(entries: readonly MessageEntry[]) {
    for (const entry of entries) {
      if (entry.type === "user_message") this.#last += 1;
      if (entry.type !== "assistant_message") continue;
      this.#turns.set(entry, this.#last);
      if (entry.calls.length > 0) this.#calling.add(this.#last);
    }
  }

  of(entry: AssistantEntry): AssistantEntry["reasoning"] {
    const turn = this.#turns.get(entry) ?? 0;
    const isKept = { turn: turn === this.#last, session: this.#calling.has(turn) };
    return entry.reasoning.filter((one) => one.type !== "plain" || isKept[one.for]);
  }
}

function assistantMessage(entry: AssistantEntry, keeps: KeptThoughts): Message {
  const { text, calls, written, complete, by, interrupted, refused } = entry;
  if (refused === true) return { role: "assistant", text: REFUSED_ANSWER, calls: [], reasoning: [] };
  const answer = interrupted !== true ? text : text === "" ? INTERRUPTED : `${text}\n${INTERRUPTED}`;
  const known = {
    ...(written === undefined ? {} : { written }),
    ...(complete === undefined ? {} : { complete }),
    ...(by === undefined ? {} : { by }),
  };
  return { role: "assistant", text: answer, calls, reasoning: keeps.of(entry), ...known };
}

/** One for each call, as all providers demand. */
function results(entry: AssistantEntry, own: readonly MessageEntry[]): readonly Message[] {
  const { calls } = entry;
  const found = own.filter(isResult);
  const notes = own.filter(isNote).filter((note) => isWithResults(entry, note));
  return calls.map(({ id, name }, at): Message => {
    const result = found.find((one) => one.id === id);
    const { type: _, ...rest } = result ??
      { type: "tool_result", id, name, text: CALL_INTERRUPTED, isError: true };
    const noteTexts = at === calls.length - 1 ? notes.map(({ text }) => text) : [];
    const text = noteTexts.length === 0 ? rest.text : `${rest.text}\n\n${noteTexts.join("\n")}`;
    const noteImages = at === calls.length - 1 ? notes.flatMap(({ images = [] }) => images) : [];
    const images = [...rest.images ?? [], ...noteImages];
    return { role: "tool", ...rest, text, ...(images.length === 0 ? {} : { images }) };
  });
}
