import type { ToolSpec } from "../../log/model_request.ts";
import { syntaxesOf } from "./registry.ts";
import { THOUGHTS } from "../thoughts.ts";
import type { Syntax } from "./syntax/syntax.ts";
import { KnownTools } from "./tools.ts";

interface Mark {
  readonly text: string;
  /** Undefined for a mark that hides calls, or begins a made-up result. */
  readonly syntax: Syntax | undefined;
  readonly atLine: boolean;
}

/** Some models continue after a call with a made-up result. */
const RESULTS_ANYWHERE = [
  "<tool_response",
  "<function_results",
  "<|observation|>",
  "<｜tool▁outputs▁begin｜>",
  // LM Studio's mark; with an S, Mistral's.
  "[TOOL_RESULT",
];
const RESULTS_AT_LINE = ["Observation:"];
export const RESULTS = [...RESULTS_ANYWHERE, ...RESULTS_AT_LINE];

export class Grammar {
  readonly tools: KnownTools;
  /** Length of the longest mark. */
  readonly longest: number;
  /** The marks that count anywhere. */
  readonly anywhere: readonly string[];
  /** The marks by first character, in the order of the syntaxes. */
  readonly #marks = new Map<string, Mark[]>();
  readonly #sources: readonly string[];
  /** The sources, normalised for the comparison. */
  #plain: readonly string[] | undefined;

  /**
   * @param sources texts that the model has read: a call that also occurs there is a quotation
   * @param model the provider's name for it; a known family gets only its own syntax and the requested one
   */
  constructor(specs: readonly ToolSpec[], sources: readonly string[] = [], model = "") {
    this.#sources = sources;
    this.tools = new KnownTools(specs);
    const hiding = (texts: Iterable<string>, atLine: boolean) =>
      [...texts].map((text) => ({ text, syntax: undefined, atLine }));
    const calls = syntaxesOf(model).flatMap((syntax) =>
      syntax.marks(this.tools).map((text) => ({ text, syntax, atLine: syntax.atLine === true }))
    );
    const anywhere: readonly Mark[] = [
      ...hiding([...THOUGHTS.keys(), ...RESULTS_ANYWHERE], false),
      ...calls.filter(({ atLine }) => !atLine),
    ];
    const atLine: readonly Mark[] = [
      ...hiding(RESULTS_AT_LINE, true),
      ...calls.filter(({ atLine }) => atLine),
    ];
    this.anywhere = [...new Set(anywhere.map(({ text }) => text))];
    this.longest = Math.max(...[...anywhere, ...atLine].map(({ text }) => text.length));
    for (const mark of [...anywhere, ...atLine]) {
      const first = mark.text.charAt(0);
      this.#marks.set(first, [...this.#marks.get(first) ?? [], mark]);
    }
  }

  /** The marks at a position. */
  marksAt(text: string, at: number): readonly Mark[] {
    if (isInWord(text, at)) return [];
    return this.#marks.get(text.charAt(at))?.filter((mark) => text.startsWith(mark.text, at)) ?? [];
  }

  isQuoted(call: string): boolean {
    // The end of the surrounding fence does not belong to the call.
    const text = plain(call).replace(/[`~]+$/, "");
    this.#plain ??= this.#sources.map(plain);
    return this.#plain.some((source) => source.includes(text));
  }

  /**
   * Whether the text from `at` on is an incomplete mark; "line" if the mark counts only at the beginning of a
   * line.
   */
  isCut(text: string, at: number): boolean | "line" {
    if (text.length - at > this.longest || isInWord(text, at)) return false;
    const end = text.slice(at);
    const marks = this.#marks.get(text.charAt(at))?.filter((mark) => mark.text.startsWith(end)) ?? [];
    return marks.some(({ atLine }) => !atLine) || (marks.length > 0 && "line");
  }
}

/** Whether a mark that is a word would begin inside of a word. */
function isInWord(text: string, at: number): boolean {
  return /[A-Za-z]/.test(text.charAt(at)) && /[\w-]/.test(text.charAt(at - 1));
}

/** Removes white space, line numbers and quotation marks before lines. */
function plain(text: string): string {
  return text.replace(/^[ \t]*(?:>[ \t]?)*(?:\d+\t)?/gm, "").replace(/\s+/g, "");
}
