/** What models say with their calls: each situation in each format that can express it. */
import { CALL_FORMATS } from "./formats.ts";
import type { CallFormat, WrittenCall } from "./writers.ts";

export interface SpokenCalls {
  /** Format and situation. */
  readonly what: string;
  readonly model: string;
  /** The whole answer. */
  readonly text: string;
  readonly calls: readonly WrittenCall[];
  /** What a user is to read, white space at its ends aside. */
  readonly words: string;
}

const read: WrittenCall = { name: "read_file", arguments: { path: "src/main.ts" } };
const list: WrittenCall = { name: "list_files", arguments: {} };
const search: WrittenCall = {
  name: "search_workspace",
  arguments: { query: "TODO", is_regex: false, context: 0 },
};

const write = (path: string, content: string): WrittenCall => ({
  name: "write_file",
  arguments: { path, content },
});

interface Situation {
  readonly what: string;
  readonly calls: readonly WrittenCall[];
  readonly words?: string;
  readonly text: (format: CallFormat, calls: readonly WrittenCall[]) => string | undefined;
}

const alone: Situation["text"] = (format, calls) => format.write(calls);

const after = (words: string, between = "\n\n"): Pick<Situation, "words" | "text"> => ({
  words,
  text: (format, calls) => `${format.say?.(words) ?? `${words}${between}`}${format.write(calls)}`,
});

const MARKDOWN =
  "# Title\n\n> a quotation\n\n- an item\n1. another\n\n```ts\nlet a = 1;\n```\n\n    indented\n\nFor example:\n";

export const SITUATIONS: readonly Situation[] = [
  { what: "one call", calls: [read], text: alone },
  { what: "no arguments", calls: [list], text: alone },
  {
    what: "two calls",
    calls: [read, list],
    text: (format, calls) => format.hasOneCall ? undefined : format.write(calls),
  },
  {
    what: "three calls after words",
    calls: [read, search, list],
    words: "Three things at once.",
    text: (format, calls) =>
      format.hasOneCall ? undefined : after("Three things at once.").text(format, calls),
  },
  { what: "words before it", calls: [read], ...after("I will look at the file first.") },
  { what: "words that end in a colon", calls: [read], ...after("Let me read `src/main.ts`:") },
  {
    what: "words on the same line",
    calls: [read],
    words: "I will look at it.",
    text: (format, calls) =>
      format.say === undefined && hasMark(format) ? `I will look at it. ${format.write(calls)}` : undefined,
  },
  { what: "Chinese words", calls: [read], ...after("我先看一下这个文件：") },
  {
    what: "words that name an example, then what is done",
    calls: [search],
    ...after("Some tests fail, for example parse_test.ts. I will look for the marks now."),
  },
  {
    what: "code in a fence and a list before it",
    calls: [read],
    ...after(
      "The bug is here:\n\n```ts\nconst a = `x`;\n```\n\n1. Read the file.\n2. Change `a`.\n\nFirst the file.",
    ),
  },
  {
    what: "thoughts before it",
    calls: [read],
    text: (format, calls) =>
      (format.think ?? ((thought) => `<think>\n${thought}\n</think>\n\n`))(
        "The user wants the file. I need read_file with its path.",
      ) + format.write(calls),
  },
  {
    what: "numbers and booleans",
    calls: [{ name: "read_file", arguments: { path: "a.ts", offset: 10, limit: 20 } }, search],
    text: (format, calls) => format.write(format.hasOneCall ? calls.slice(0, 1) : calls),
  },
  {
    what: "a list",
    calls: [{ name: "read_files", arguments: { paths: ["a.ts", "b c.ts", "d,e.ts"] } }],
    text: alone,
  },
  {
    what: "objects in a list",
    calls: [{
      name: "edit_file",
      arguments: {
        path: "src/main.ts",
        edits: [
          { old_str: 'let a = "1";', new_str: "let a = [1, 2];" },
          { old_str: "f({ b: 2 })", new_str: "", replace_all: true },
        ],
      },
    }],
    text: alone,
  },
  {
    what: "other alphabets",
    calls: [write("docs/заметки.md", "日本語 — ça va? 👍🏽 שלום é ｜ ▁")],
    text: alone,
  },
  {
    what: "a text of several lines",
    calls: [write("a.txt", "first\n\n  second\n\tthird\n")],
    text: alone,
  },
  {
    what: "code with tags, quotes and escapes",
    calls: [
      write(
        "a.html",
        '<p class="x">\n  {{ "k": \'v\' }} && `z` <b>\\n</b> \\\\d+ "[{]" // }]\n</p>\n<!-- <parameters> -->\n',
      ),
    ],
    text: alone,
  },
  { what: "Markdown with fences", calls: [write("README.md", MARKDOWN)], text: alone },
  {
    what: "values that end in a newline",
    calls: [{
      name: "edit_file",
      arguments: { path: "a.txt", old_str: "foo\n", new_str: "bar\nbaz\n" },
    }],
    text: alone,
  },
  {
    what: "white space at its ends and in between",
    calls: [read, search],
    text: (format, calls) => {
      const some = format.hasOneCall ? calls.slice(0, 1) : calls;
      return `\n\n ${(format.loose ?? format.write)(some)}  \n\n`;
    },
  },
  {
    what: "the mark of the end behind it",
    calls: [read],
    text: (format, calls) => format.stop === "" ? undefined : `${format.write(calls)}${format.stop}`,
  },
];

/** Formats that begin with a mark, so that words may stand on the same line. */
function hasMark(format: CallFormat): boolean {
  return !/^(?:[\[{>]|Action|functools)/.test(format.write([read])) || /^\[TOOL_/.test(format.write([read]));
}

export const SPOKEN_CALLS: readonly SpokenCalls[] = CALL_FORMATS.flatMap((format) =>
  SITUATIONS.flatMap(({ what, calls, words = "", text }) => {
    const answer = text(format, calls);
    if (answer === undefined) return [];
    return [{
      what: `${format.who}: ${what}`,
      model: format.model,
      text: answer,
      calls: format.hasOneCall ? calls.slice(0, 1) : calls,
      words,
    }];
  })
);

/** Words that models write before a call, none of which announces an example. */
const WORDS = [
  ...["Sure.", "Okay", "Reading…", "Now I need to see main.ts", "Reading:", "TODO", "---"],
  ...[
    "Let me read example.ts:",
    "Let me look at the .env.example file",
    "I'll look at docs/examples/a.md next:",
  ],
  "This is an example project, so I read its main file first.",
  ...["Let me see what the file says:", "I could look at the file to be sure:", "Let me see how it looks:"],
  "That looks like a bug; I read the file.",
  ...["I can write the test after I have read this file:", "We may write to it later; first read it."],
  ...["I should not run the tests yet. Reading:", "Let me fix the syntax error.", 'He said "read it".'],
  ...["(I will read the file now.)", "Let me check 'foo'.", "The file has an `odd tick.\n\nReading:"],
  ...[
    "1. Read the file.\n2. Change it.\n\nStep 1:",
    "> the user's words\n\nI read it.",
    "## Plan\n\nFirst I read.",
  ],
  ...["| a | b |\n|---|---|\n| 1 | 2 |\n\nNow the file.", "~~~\nx\n~~~", "**Step 1**: read the file"],
  ...[
    "Ich lese zuerst die Datei:",
    "Je lis le fichier :",
    "Читаю файл:",
    "ファイルを読みます。",
    "파일을 읽겠습니다:",
  ],
];

export const AFTER_WORDS: readonly SpokenCalls[] = CALL_FORMATS
  .filter(({ who }) => /^(?:Hermes|Qwen3-Coder, N|GLM 4\.7|Qwen 2\.5 Coder)/.test(who))
  .flatMap((format) =>
    WORDS.map((words) => ({
      ...{ what: `${format.who}: behind ${words}`, model: format.model },
      ...{ text: `${words}\n\n${format.write([read])}`, calls: [read], words },
    }))
  );

/** A long write in each format, to be cut off anywhere. */
export const LONG_WRITES: readonly SpokenCalls[] = CALL_FORMATS.map((format) => {
  const calls = [write("src/list.txt", 'one\n"two"\n<three>\n{ four: [5, 6] }\n')];
  return { what: format.who, model: format.model, text: format.write(calls), calls, words: "" };
});

/** Answers of models as their servers leave them, each odd in a way of its own. */
export const ODD_ANSWERS: readonly SpokenCalls[] = [
  {
    what: "thoughts whose opening tag the template swallowed, on the same line as the words",
    model: "qwen3-8b",
    text:
      'I need the file.</think>I read it.\n<tool_call>\n{"name": "read_file", "arguments": {"path": "src/main.ts"}}\n</tool_call>',
    calls: [read],
    words: "I read it.",
  },
  {
    what: "MiniMax M3 with a number inside of an object",
    model: "minimax-m3",
    text: "<mm:think>Two steps.</mm:think>]<]minimax[>[<tool_call>\n" +
      ']<]minimax[>[<invoke name="update_plan">]<]minimax[>[<steps>]<]minimax[>[<item>]<]minimax[>[<step>1' +
      "]<]minimax[>[</step>]<]minimax[>[<status>pending]<]minimax[>[</status>]<]minimax[>[</item>" +
      "]<]minimax[>[</steps>]<]minimax[>[</invoke>\n]<]minimax[>[</tool_call>",
    calls: [{ name: "update_plan", arguments: { steps: [{ step: "1", status: "pending" }] } }],
    words: "",
  },
  {
    what: "MiniMax M3 with spaces behind its marks",
    model: "minimax-m3",
    text:
      ']<]minimax[>[ <tool_call>\n]<]minimax[>[ <invoke name="read_file">]<]minimax[>[ <path>src/main.ts' +
      "]<]minimax[>[ </path>]<]minimax[>[ </invoke>\n]<]minimax[>[ </tool_call>",
    calls: [read],
    words: "",
  },
  {
    what: "Kimi K3 with words alone",
    model: "kimi-k3",
    text:
      "Short thought.<|close|>think<|sep|><|open|>response<|sep|>It is done.<|close|>response<|sep|><|close|>message<|sep|>",
    calls: [],
    words: "It is done.",
  },
  {
    what: "Command A with words alone",
    model: "command-a-plus",
    text: "<|START_THINKING|>Easy.<|END_THINKING|><|START_TEXT|>It is done.<|END_TEXT|>",
    calls: [],
    words: "It is done.",
  },
  {
    what: "Command R7B with words alone",
    model: "command-r7b",
    text: "<|START_RESPONSE|>It is done.<|END_RESPONSE|>",
    calls: [],
    words: "It is done.",
  },
  {
    what: "Gemma 4 whose channel ends behind the call",
    model: "gemma-4-27b-it",
    text: '<|tool_call>call:read_file{path:<|"|>src/main.ts<|"|>}<tool_call|><channel|>',
    calls: [read],
    words: "",
  },
  {
    what: "Gemma 4 whose thoughts are empty",
    model: "gemma-4-27b-it",
    text:
      '<|channel>thought\n<channel|>I read it.<|tool_call>call:read_file{path:<|"|>src/main.ts<|"|>}<tool_call|><|tool_response>',
    calls: [read],
    words: "I read it.",
  },
  {
    what: "GigaChat 3.1 with words before the call",
    model: "gigachat3.1-10b",
    text: 'I read it.<|function_call|>{"name": "read_file", "arguments": {"path": "src/main.ts"}}',
    calls: [read],
    words: "I read it.",
  },
  {
    what: "Step 3 without the outer marks",
    model: "step3",
    text:
      '<steptml:invoke name="read_file">\n<steptml:parameter name="path">src/main.ts</steptml:parameter>\n</steptml:invoke>',
    calls: [read],
    words: "",
  },
  {
    what: "MiniCPM5 with single quotes and arguments in a group",
    model: "minicpm5-8b",
    text:
      "<function name='read_file'><arguments><param name='path'>src/main.ts</param></arguments></function>",
    calls: [read],
    words: "",
  },
  {
    what: "Muse whose frame a server has taken off",
    model: "muse-glimmer",
    text:
      'I read it.\n<atem:invoke name="read_file">\n<atem:parameter name="path">src/main.ts</atem:parameter>\n</atem:invoke>',
    calls: [read],
    words: "I read it.",
  },
  {
    what: "Muse with thoughts, words and a call",
    model: "muse-glimmer",
    text: "to=self<|message|>I need it.<|eom|><|start|>assistant to=user<|message|>I read it.<|eom|>" +
      '<|start|>assistant to=functions.read_file<|message|><atem:function_calls>\n<atem:invoke name="functions.read_file">\n' +
      '<atem:parameter name="path">src/main.ts</atem:parameter>\n</atem:invoke>\n</atem:function_calls><|eom|>',
    calls: [read],
    words: "I read it.",
  },
];
