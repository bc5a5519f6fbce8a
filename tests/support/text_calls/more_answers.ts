/** Further answers, each in formats that take turns: calls that are shown, and calls that are made behind some words. */
import { type ShownCall, USUAL_FORMATS } from "./examples.ts";
import { CALL_FORMATS } from "./formats.ts";
import type { Frame } from "./frames.ts";
import { SHOWN_FRAMES } from "./shown_frames.ts";
import { SHOWN_SENTENCES } from "./shown_sentences.ts";
import type { SpokenCalls } from "./situations.ts";
import { SPOKEN_WORDS } from "./spoken_words.ts";
import type { CallFormat, WrittenCall } from "./writers.ts";

const others = CALL_FORMATS.filter((format) => !USUAL_FORMATS.includes(format));

/** A usual one and two others. */
function formatsFor(index: number): readonly CallFormat[] {
  const usual = USUAL_FORMATS[index % USUAL_FORMATS.length];
  const turns = [index * 2, index * 2 + 1].map((at) => others[at % others.length]);
  return [usual, ...turns].flatMap((format) => format ?? []);
}

const read: WrittenCall = { name: "read_file", arguments: { path: "src/main.ts" } };
const remove: WrittenCall = { name: "delete_file", arguments: { path: "keep.txt" } };
const run: WrittenCall = { name: "run_terminal_command", arguments: { command: "rm -rf build" } };
const search: WrittenCall = { name: "search_workspace", arguments: { query: "TODO" } };

const write = (content: string): WrittenCall => ({
  name: "write_file",
  arguments: { path: "notes.md", content },
});

const SHOWN: readonly WrittenCall[] = [remove, write("one\n\n  two\n"), run];
const MADE: readonly (readonly WrittenCall[])[] = [
  [read],
  [remove],
  [write("# A\n\nFor example:\n\n- b\n")],
  [read, search],
];

const sentences = SHOWN_SENTENCES.map((words): Frame => [words, (call) => `${words}\n\n${call}`]);

export const MORE_SHOWN: readonly ShownCall[] = [...sentences, ...SHOWN_FRAMES].flatMap((
  [what, text],
  index,
) =>
  formatsFor(index).map((format) => ({
    what: `${what}: ${format.who}`,
    model: format.model,
    text: text(format.write(SHOWN.slice(index % SHOWN.length).slice(0, 1))),
  }))
);

const inTags = (thought: string) => `<think>\n${thought}\n</think>\n\n`;

export const MORE_SPOKEN: readonly SpokenCalls[] = SPOKEN_WORDS.flatMap((words, index) =>
  formatsFor(index).map((format) => {
    const calls = MADE[index % MADE.length]?.slice(0, format.hasOneCall ? 1 : 2) ?? [];
    const said = (format.say?.(words) ?? `${words}\n\n`) + format.write(calls);
    const thought = "The call would look like this, for example.";
    return {
      what: `${format.who}: behind ${words}`,
      model: format.model,
      text: index % 5 === 0 && format.say === undefined ? (format.think ?? inTags)(thought) + said : said,
      calls,
      words,
    };
  })
);
