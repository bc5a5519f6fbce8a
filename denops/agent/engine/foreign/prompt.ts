/** The user's message for another agent, with what its own session lacks. */
import type { ContentBlock } from "../../deps/acp_sdk.ts";
import { fenced, middleCut } from "../../shared/text/text.ts";
import type { RunnerPorts } from "../agent/turn/runner.ts";
import { partsText } from "../context/view.ts";
import type { ControlNote, MessageEntry } from "../log/entries.ts";
import type { Part, UserMessage } from "../log/events.ts";

/** Characters of earlier turns that another agent or model has run. */
const LONGEST_EARLIER = 100_000;
const LONGEST_RESULT = 500;
/** Unsaved buffers, and characters of each. */
const MOST_BUFFERS = 5;
const LONGEST_BUFFER = 50_000;

export interface PromptAbilities {
  readonly image: boolean;
  /** It accepts files as part of a message. */
  readonly embeddedContext: boolean;
}

/** Notes that tell facts rather than the rules of our own tools. */
const TOLD: readonly ControlNote["reason"][] = ["files", "context"];

/** @param more further texts, after the user's words @param isBare only the user's words: they name a command */
export function promptBlocks(
  { parts }: UserMessage,
  more: readonly string[],
  abilities: PromptAbilities,
  isBare: boolean,
): ContentBlock[] {
  const words = parts.flatMap((part) => blocksOf(part, abilities));
  if (isBare) return words;
  return [
    ...words,
    ...more.filter((text) => text.trim() !== "").map((text) => ({ type: "text" as const, text })),
  ];
}

function blocksOf(part: Part, { image, embeddedContext }: PromptAbilities): ContentBlock[] {
  switch (part.type) {
    case "given": {
      if (part.image === undefined) return [{ type: "text", text: part.text }];
      const { type: mimeType, data, name } = part.image;
      if (!image) return [{ type: "text", text: `[The agent accepts no images: ${name} is left out]` }];
      return [{ type: "text", text: part.text }, { type: "image", mimeType, data }];
    }
    case "file":
      if (!embeddedContext) return [{ type: "text", text: partsText([part]) }];
      return [{ type: "resource", resource: { uri: part.uri, text: part.text } }];
    case "link":
      return [{ type: "resource_link", uri: part.uri, name: part.uri.replace(/^.*\//, "") || part.uri }];
    case "text":
    case "unsupported":
      return [{ type: "text", text: partsText([part]) }];
  }
}

/** The name of the command that the words begin with: "/compact the tests". */
export function commandIn({ parts }: UserMessage): string | undefined {
  const [first] = parts;
  return first?.type === "text" ? /^\/([\w:.-]+)(?:\s|$)/.exec(first.text)?.[1] : undefined;
}

/** The facts beside the last message of the user. */
export function notesIn(messages: readonly MessageEntry[]): readonly string[] {
  const at = messages.findLastIndex(({ type }) => type === "user_message");
  return messages.slice(at + 1).flatMap((entry) =>
    entry.type === "control_note" && TOLD.includes(entry.reason) ? [entry.text] : []
  );
}

/** The last turns, which others ran. @param turns their number @returns "" without any */
export function earlierText(messages: readonly MessageEntry[], turns: number): string {
  if (turns <= 0) return "";
  const users = messages.flatMap(({ type }, at) => type === "user_message" ? [at] : []);
  const end = users.at(-1) ?? 0;
  const begin = users.at(-1 - turns) ?? users[0] ?? 0;
  const lines = messages.slice(begin, end).flatMap(linesOf);
  if (lines.length === 0) return "";
  const text = middleCut(lines.join("\n\n"), LONGEST_EARLIER);
  return `<earlier_turns>\nEarlier turns of this session, which you did not see:\n\n${text}\n</earlier_turns>`;
}

function linesOf(entry: MessageEntry): readonly string[] {
  switch (entry.type) {
    case "user_message":
      return [`User: ${partsText(entry.parts)}`];
    case "assistant_message":
      return [
        ...entry.text.trim() === "" ? [] : [`Assistant: ${entry.text}`],
        ...entry.calls.map(({ name, arguments: input }) =>
          `[call of ${name}: ${middleCut(input, LONGEST_RESULT)}]`
        ),
      ];
    case "tool_result":
      return [`[result of ${entry.name}: ${middleCut(entry.text, LONGEST_RESULT)}]`];
    case "control_note":
      return [];
  }
}

/** The user's unsaved text, which the agent does not find on the disk. */
export async function unsavedTexts(
  { screen, workspace, refreshRules }: Pick<RunnerPorts, "screen" | "workspace" | "refreshRules">,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const { current, buffers = [] } = screen ?? {};
  const modified = [...current === undefined ? [] : [current], ...buffers].filter((buffer) =>
    buffer.modified
  );
  const names = [...new Set(modified.map(({ path }) => path))].slice(0, MOST_BUFFERS);
  if (names.length === 0) return [];
  await refreshRules();
  const texts = await Promise.all(names.map(async (name) => {
    const path = await workspace.resolve(name).catch(() => undefined);
    if (path === undefined || !workspace.mayShow(path)) return [];
    const file = await workspace.readIfText(path, signal);
    if (file?.unsaved !== true || file.text.length > LONGEST_BUFFER) return [];
    const rest = "Edit the file on disk; your changes are merged into this text.";
    return [`The user's unsaved text of ${name}, which differs from the disk. ${rest}\n${fenced(file.text)}`];
  }));
  return texts.flat();
}
