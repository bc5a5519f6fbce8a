import { GIF_IMAGE, PNG_IMAGE } from "../../../../../tests/support/histories.ts";
import { testsOfMessages } from "../../../../../tests/support/wire_play.ts";

const said = (text: string, phase?: string) => ({
  type: "message",
  role: "assistant",
  content: text,
  ...(phase === undefined ? {} : { phase }),
});
const asked = (text: string) => ({ type: "message", role: "user", content: [{ type: "input_text", text }] });
const called = (call_id: string, name: string, text: string) => ({
  type: "function_call",
  call_id,
  name,
  arguments: text,
});
const output = (call_id: string, output: unknown) => ({ type: "function_call_output", call_id, output });
const thought = (data: string, ...summary: readonly string[]) => ({
  type: "reasoning",
  summary: summary.map((text) => ({ type: "summary_text", text })),
  encrypted_content: data,
});
const png = [
  { type: "input_text", text: "a.png:" },
  { type: "input_image", image_url: `data:image/png;base64,${PNG_IMAGE.data}`, detail: "auto" },
];
const gif = [
  { type: "input_text", text: "b.gif:" },
  { type: "input_image", image_url: `data:image/gif;base64,${GIF_IMAGE.data}`, detail: "auto" },
];
const readA = called("c1", "read_file", '{"path": "a.ts"}');

testsOfMessages("openai_responses", {
  "a question": [asked("Hi")],
  "a question after an answer": [asked("Hi"), said("Hello. "), asked("Bye")],
  "text and two calls with their results": [
    asked("Look"),
    said("I look.\n"),
    readA,
    called("c2", "read_file", '{"path":"b.ts"}'),
    output("c1", "1\ta"),
    output("c2", "b.ts does not exist."),
  ],
  "images of two results": [
    asked("Look"),
    called("c1", "read_files", "{}"),
    called("c2", "read_file", '{"path":"b.ts"}'),
    called("c3", "read_file", "{}"),
    output("c1", [{ type: "input_text", text: "Two images." }, ...png, ...gif]),
    output("c2", "1\tb"),
    output("c3", [{ type: "input_text", text: "An image." }, ...gif]),
    said("I see."),
    asked("What?"),
  ],
  "calls without text": [asked("Look"), called("c1", "list_directory", "{}"), output("c1", "")],
  "an answer with nothing in it": [asked("Hi"), said("[Reasoning completed]"), asked("Well?")],
  "broken arguments": [
    asked("Go"),
    called("c1", "edit_file", '{"invalid_json":"{\\"path\\": \\"a.ts\\", \\"old_str\\": \\"x"}'),
    called("c2", "think", '{"invalid_json":"hm"}'),
    output("c1", "The arguments are not valid JSON."),
    output("c2", "The arguments are not valid JSON."),
  ],
  "arguments that were repaired": [
    asked("Go"),
    called("c1", "read_file", '{"path":"a.ts"}'),
    output("c1", "1\ta"),
  ],
  "a tool that the model made up": [
    asked("Go"),
    called("c1", "functions_read_file", "{}"),
    called("c2", "unknown", "{}"),
    output("c1", "There is no such tool."),
    output("c2", "There is no such tool."),
  ],
  "reasoning": [asked("Think"), said("So."), readA, output("c1", "1\ta")],
  // Each before what it led to; the last led to nothing that was taken.
  "reasoning between what it led to": [
    asked("Think"),
    thought("b25l", "Hm.", "Well."),
    said("First. ", "commentary"),
    thought("dHdv"),
    said("Then.", "commentary"),
    readA,
    thought("dGhyZWU="),
    called("c2", "read_file", '{"path":"b.ts"}'),
    output("c1", "1\ta"),
    output("c2", "1\tb"),
  ],
  "what the provider wants back with a call": [asked("Look"), readA, output("c1", "1\ta")],
});
