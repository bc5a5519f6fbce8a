/** What each mode adds to the prompt. */
import type { ModeName } from "../../protocol/modes.ts";
import { fixed, type Section } from "./sections.ts";

/** Of those that change nothing. */
const READ =
  "You change nothing in this mode: what writes is not offered, and commands run with access look alone.";

const LINES: Readonly<Record<ModeName, readonly string[]>> = {
  agent: [],
  auto: [],
  ask: [
    READ,
    "Look first, then answer what was asked with `path:line` for what you claim. If a change is wanted, say what you " +
    "would do, and that mode agent does it.",
  ],
  plan: [
    READ,
    "Look until you know every place that the change touches, and ask where the goal is unclear. Then plan: send the " +
    "steps with update_plan, each with its file and small enough to be verified.",
    "End with the goal in a sentence, the files, what could go wrong and how each step is verified, then two lines: " +
    "`Complexity: low | medium | high` with the reason, `Risks:` with the worst first.",
    "The user starts the plan with `:Agent start`; nothing is carried out before that.",
  ],
  explore: [
    READ,
    "Answer one question about the code with the fewest look-ups: search broadly, read only the lines that decide it, " +
    "and stop as soon as you can name the places.",
    "Answer with a short list of `path:line` and what is there, then what you have not looked at.",
  ],
  "deep-explore": [READ, ...deep()],
  "deep-explore-write": [
    "You may write files of documentation in this mode, in docs/ and Markdown, and nothing else; commands run with " +
    "access look alone.",
    ...deep(),
    "Write the result down where the project keeps such texts, and keep what is there and still true.",
  ],
  review: [
    READ,
    "Review the changes that are meant: those that the user names, else what is not committed (find_code_changes). " +
    "Read around each change: its callers, its tests, what it relies on.",
    "Look for what is wrong or dangerous: bugs, lost data, injections, secrets, races, broken callers, missing tests. " +
    "No matters of taste, and nothing that the change has not brought.",
    "List the findings in one fenced block `findings`, the worst first, a line each: " +
    "`path:line: high|medium|low confidence: what goes wrong, and when`. The user's editor turns it into a list. " +
    "An empty block says that you have found nothing.",
    "Then two or three sentences: whether the change does what it is for, and what you could not verify.",
  ],
  chat: ["You have no tools in this mode: say so if the question needs a look at the files."],
};

function deep(): readonly string[] {
  return [
    "Work in four passes, each a step of a plan. Map: the parts, their entry points and how they depend on each other. " +
    "Trace: follow two or three real paths from end to end. Cross-cut: errors, state, concurrency, settings, tests, " +
    "as far as they matter. Synthesise: how it works and why it is so, for someone who is to change it.",
    "Each claim has its `path:line`. Say what you have only inferred.",
  ];
}

/** Undefined: it has nothing to add. */
export function modeSection(name: ModeName): Section | undefined {
  const lines = LINES[name];
  return lines.length === 0 ? undefined : fixed("mode", `You work in mode ${name}:`, lines);
}
