/**
 * Instructions for each mode, which accompany a message. All differences between modes are here, so that the system
 * prompt never contradicts them.
 */
import type { Family } from "../../models/families.ts";
import type { ModeName } from "../../protocol/modes.ts";
import { list, type PromptSection, type SectionInputs } from "./sections.ts";

interface ModeWords {
  readonly lines: readonly string[];
  /** How it answers a user; sub-agents have their own text. */
  readonly answer?: string;
  /** It reports what is unclear instead of asking. */
  readonly reports?: true;
  /** It changes files, so the advice for the model's family is included. */
  readonly writes?: true;
}

const READ = "Change nothing: tools that write are refused, and commands run with access look only.";

const FEW_LINES =
  "Answer in a few short lines without headings: what you changed, and what you did not verify.";

const ASK = "If something is unclear and a wrong guess would cost work, ask.";

/** For sub-agents, in place of the instructions about the user. */
const TO_AGENT = [
  "Your answer goes to the agent that gave you this task: include everything it needs, with `path:line`.",
  "You cannot ask anyone: decide, and say in your answer what is unclear.",
];

const PASSES =
  "Work in four passes, each a step of your plan. Map the parts, entry points and dependencies. Trace two or three " +
  "paths from end to end. Check errors, state, concurrency, settings and tests. Explain how it works and why, for someone " +
  "who will change it. Cite `path:line` for each claim, and mark what you infer.";

/** The end of these passes. */
const LOOKED =
  "Stop when each import of a file that matters is followed, at least two levels deep, or named as not followed. List " +
  "open questions.";

const AGENT: ModeWords = {
  lines: [
    "Carry out the task with tools; never show code for the user to paste.",
    "Continue until it is done, then verify it with the project's tests, types or linter, the smallest run that covers " +
    "the change first.",
  ],
  answer: FEW_LINES,
  writes: true,
};

const WORDS: Readonly<Record<ModeName, ModeWords>> = {
  agent: AGENT,
  orchestrator: {
    lines: [
      "Plan first: steps with a result that can be checked.",
      "Delegate look-ups and independent parts to sub-agents, several at once. Each task names the goal, the files, the " +
      "limits and what to report.",
      "Write what joins the parts yourself, check what sub-agents have changed, and verify the whole before you end.",
    ],
    answer: FEW_LINES,
    writes: true,
  },
  auto: AGENT,
  ask: {
    lines: [READ, "Answer the question with `path:line` for what you claim."],
    answer: "If a change is wanted, say what you would do, and that mode agent does it.",
  },
  plan: {
    lines: [
      READ,
      "Look until you know every place that the change touches. Then send a plan whose steps name their file and can be " +
      "verified one by one. The user starts the plan with `:Agent start`.",
    ],
    answer:
      "End with the goal in one sentence, how each step is verified, and two lines: `Complexity: low | medium | high` " +
      "with the reason, and `Risks:` with the worst first.",
  },
  explore: {
    lines: [
      READ,
      "Answer one question about the code with as few look-ups as possible: search broadly, read only the lines that decide " +
      "it, and stop when you can name the places.",
    ],
    answer: "List `path:line` and what is there, then what you have not looked at.",
  },
  "deep-explore": { lines: [READ, PASSES, LOOKED] },
  "deep-explore-write": {
    lines: [
      "Write documentation only, in docs/ and Markdown files; commands run with access look only.",
      PASSES,
      LOOKED,
      "Put the result where the project keeps such texts; keep what is still true.",
    ],
  },
  review: {
    lines: [
      READ,
      "Review the changes that the user names, or else the uncommitted ones, with callers and tests: bugs, lost data, " +
      "missing tests, not taste.",
      "Then security: input, auth, secrets, injection, path traversal, deserialization, crypto, races. Trace each from " +
      "source to sink with symbols: definition, references, calls.",
      "Confidence 10: traced from source to sink in this code, and nothing stops it. 9: one step is elsewhere. 8: the flaw " +
      "is certain, its reach is not.",
    ],
    answer: "List findings of confidence 8 to 10 in one fenced block `findings`, one a line, worst first: " +
      '`path:line: high|medium|low 9/10: what goes wrong, and when`. Put the rest under "Not verified", without severity. ' +
      "Say whether the change does its job.",
    reports: true,
  },
  chat: {
    lines: [
      "Talk: answer from what you know and what you have seen. Look at files only where the answer depends on them.",
      "Tools that change or run something are refused.",
    ],
  },
};

/** Advice for each family of models about changing files. */
const WRITING: Readonly<Record<Family, string>> = {
  claude: "Make the smallest change that is right: no files, helpers or fallbacks that nobody asked for.",
  gpt: "Do not stop to report a plan or to offer a next step: carry it out in this turn.",
  gemini: "Change files with the edit tools, not with commands.",
  deepseek: "",
  qwen: "",
  llama: "",
  mistral: "Continue with tool calls until the task is done.",
  default: "",
};

export function modeSection(name: ModeName): PromptSection {
  const { lines, answer, reports, writes } = WORDS[name];
  const toUser = [...answer === undefined ? [] : [answer], ...reports === true ? [] : [ASK]];
  return {
    name: "mode",
    text({ isSubagent, family }: SectionInputs) {
      const own = [...lines, ...isSubagent ? TO_AGENT : toUser, writes === true ? WRITING[family] : ""];
      return list(`${name}:`, own.filter((line) => line !== ""));
    },
  };
}
