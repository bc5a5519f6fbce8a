/** Messages as the engine keeps them, for the tests of what each wire makes of them. */
import fc from "fast-check";
import { GIF, pngFile } from "./pictures.ts";
import type {
  AssistantMessage,
  Image,
  ImageType,
  Message,
  ToolCall,
  ToolMessage,
} from "../../denops/agent/engine/log/messages.ts";
import type { ModelRequest, ToolSpec } from "../../denops/agent/engine/log/model_request.ts";

export function user(text: string): Message {
  return { role: "user", text };
}

export function assistant(text: string, calls: readonly ToolCall[] = []): AssistantMessage {
  return { role: "assistant", text, calls, reasoning: [] };
}

export function call(id: string, name: string, args: string): ToolCall {
  return { id, name, arguments: args };
}

export function result(id: string, name: string, text: string, isError = false): ToolMessage {
  return { role: "tool", id, name, text, isError };
}

function picture(name: string, type: ImageType, bytes: Uint8Array): Image {
  return { name, type, data: bytes.toBase64() };
}

const readA = call("c1", "read_file", '{"path": "a.ts"}');
/** Real files; what they are in a request is compared with these. */
export const PNG_IMAGE = picture("a.png", "image/png", pngFile(2, 3));
export const GIF_IMAGE = picture("b.gif", "image/gif", GIF);

const readB = call("c2", "read_file", '{"path":"b.ts"}');

export const HISTORIES = {
  "a question": [user("Hi")],
  "a question after an answer": [user("Hi"), assistant("Hello. "), user("Bye")],
  "text and two calls with their results": [
    user("Look"),
    assistant("I look.\n", [readA, readB]),
    result("c1", "read_file", "1\ta"),
    result("c2", "read_file", "b.ts does not exist.", true),
  ],
  "images of two results": [
    user("Look"),
    assistant("", [call("c1", "read_files", "{}"), readB, call("c3", "read_file", "{}")]),
    { ...result("c1", "read_files", "Two images."), images: [PNG_IMAGE, GIF_IMAGE] },
    result("c2", "read_file", "1\tb"),
    { ...result("c3", "read_file", "An image."), images: [GIF_IMAGE] },
    assistant("I see."),
    user("What?"),
  ],
  "calls without text": [
    user("Look"),
    assistant("", [call("c1", "list_directory", "")]),
    result("c1", "list_directory", ""),
  ],
  "an answer with nothing in it": [user("Hi"), assistant(""), user("Well?")],
  "broken arguments": [
    user("Go"),
    assistant("", [call("c1", "edit_file", '{"path": "a.ts", "old_str": "x'), call("c2", "think", "hm")]),
    result("c1", "edit_file", "The arguments are not valid JSON.", true),
    result("c2", "think", "The arguments are not valid JSON.", true),
  ],
  "arguments that were repaired": [
    user("Go"),
    assistant("", [call("c1", "read_file", "{'path': 'a.ts',}")]),
    result("c1", "read_file", "1\ta"),
  ],
  "a tool that the model made up": [
    user("Go"),
    assistant("", [call("c1", "functions.read file", "{}"), call("c2", "", "{}")]),
    result("c1", "functions.read file", "There is no such tool.", true),
    result("c2", "", "There is no such tool.", true),
  ],
  "reasoning": [
    user("Think"),
    {
      role: "assistant",
      text: "So.",
      calls: [readA],
      reasoning: [
        { type: "signed", text: "Hm.", signature: "c2ln" },
        { type: "redacted", data: "ZGF0YQ==" },
      ],
    },
    result("c1", "read_file", "1\ta"),
  ],
  "reasoning between what it led to": [
    user("Think"),
    {
      role: "assistant",
      text: "First. Then.",
      calls: [readA, readB],
      reasoning: [
        { type: "encrypted", summary: ["Hm.", "Well."], data: "b25l", text: 0, calls: 0 },
        { type: "phase", phase: "commentary", text: 0 },
        { type: "encrypted", summary: [], data: "dHdv", text: 7, calls: 0 },
        { type: "encrypted", summary: [], data: "dGhyZWU=", text: 12, calls: 1 },
        { type: "encrypted", summary: [], data: "Zm91cg==", text: 12, calls: 2 },
      ],
    },
    result("c1", "read_file", "1\ta"),
    result("c2", "read_file", "1\tb"),
  ],
  "what the provider wants back with a call": [
    user("Look"),
    assistant("", [{ ...readA, extra: { google: { thought_signature: "c2ln" } } }]),
    result("c1", "read_file", "1\ta"),
  ],
} as const satisfies Readonly<Record<string, readonly Message[]>>;

export type HistoryName = keyof typeof HISTORIES;

export const READ_FILE: ToolSpec = {
  name: "read_file",
  description: "Read a file.",
  parameters: { type: "object", properties: { path: { type: "string" } }, required: ["path"] },
};

export const LIST: ToolSpec = {
  name: "list",
  description: "List.",
  parameters: { type: "object", properties: {} },
};

export function request(messages: readonly Message[], changes: Partial<ModelRequest> = {}): ModelRequest {
  return {
    model: "model-1",
    system: "Be brief.",
    messages,
    tools: [READ_FILE],
    contextWindow: 8_000,
    ...changes,
  };
}

/** The whole history and where each request of it ended. */
export interface Played {
  readonly messages: readonly Message[];
  readonly requests: readonly number[];
}

const words = fc.constantFrom("", " ", "a", "ü😀", "line\nline\n", " trailing ");
const argumentTexts = fc.constantFrom("", "{}", '{"path": "a"}', '{"path": "a', "hm", "[1]");

const answers = fc.record({
  text: words,
  arguments: fc.array(argumentTexts, { maxLength: 3 }),
  signature: fc.boolean(),
  results: fc.array(words, { minLength: 3, maxLength: 3 }),
  images: fc.array(fc.constantFrom(PNG_IMAGE, GIF_IMAGE), { maxLength: 2 }),
});

/** Whole turns, as the loop writes them: each request ends with a question or with all results of the calls. */
export const histories: fc.Arbitrary<Played> = fc.array(answers, { minLength: 1, maxLength: 5 }).map(
  (turns) => {
    const messages: Message[] = [user("Start")];
    const requests = [1];
    for (const [turn, { text, arguments: given, signature, results, images }] of turns.entries()) {
      const calls = given.map((args, at) => call(`c${turn}_${at}`, "read_file", args));
      const reasoning = signature ? [{ type: "signed", text: "Hm.", signature: "c2ln" }] as const : [];
      messages.push({ role: "assistant", text, calls, reasoning });
      const shown = images.length === 0 ? {} : { images };
      messages.push(...calls.map(({ id, name }, at) => {
        const one = result(id, name, results[at] ?? "", at === 1);
        return at === 1 ? one : { ...one, ...shown };
      }));
      if (calls.length === 0) messages.push(user(results[0] ?? ""));
      requests.push(messages.length);
    }
    return { messages, requests };
  },
);
