import type { ToolSpec } from "../../log/model_request.ts";
import { syntaxesOf } from "./registry.ts";
import { THOUGHTS } from "../thoughts.ts";
import type { Syntax } from "./syntax/syntax.ts";
import { KnownTools } from "./tools.ts";

interface Mark {
  readonly text: string;
  /** Undefined: it begins something that hides calls, or a made-up result. */
  readonly syntax: Syntax | undefined;
  readonly atLine: boolean;
}

/** Models that have just called a tool sometimes go on with what it might answer. */
const RESULTS_ANYWHERE = [
  "<tool_response",
  "<function_results",
  "<|observation|>",
  "<｜tool▁outputs▁begin｜>",
  // LM Studio's, and with an S Mistral's.
  "[TOOL_RESULT",
];
const RESULTS_AT_LINE = ["Observation:"];
export const RESULTS = [...RESULTS_ANYWHERE, ...RESULTS_AT_LINE];

export class Grammar {
  readonly tools: KnownTools;
  /** Characters of the longest mark. */
  readonly longest: number;
  /** Texts of marks that count anywhere. */
  readonly anywhere: readonly string[];
  /** By their first character, in the order of the syntaxes. */
  readonly #marks = new Map<string, Mark[]>();
  readonly #sources: readonly string[];
  /** The same, as it is compared. */
  #plain: readonly string[] | undefined;

  /**
   * @param sources what the model has read: a call that stands there too is a quotation
   * @param model as the provider calls it: of a known family only its own syntax counts, and the one that is asked for
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

  /** Those that stand at a place. */
  marksAt(text: string, at: number): readonly Mark[] {
    if (isInWord(text, at)) return [];
    return this.#marks.get(text.charAt(at))?.filter((mark) => text.startsWith(mark.text, at)) ?? [];
  }

  isQuoted(call: string): boolean {
    // The end of the fence around it is none of the call's.
    const text = plain(call).replace(/[`~]+$/, "");
    this.#plain ??= this.#sources.map(plain);
    return this.#plain.some((source) => source.includes(text));
  }

  /** Whether the end of a text from `at` on is the beginning of a mark: "line" if only where a line begins. */
  isCut(text: string, at: number): boolean | "line" {
    if (text.length - at > this.longest || isInWord(text, at)) return false;
    const end = text.slice(at);
    const marks = this.#marks.get(text.charAt(at))?.filter((mark) => mark.text.startsWith(end)) ?? [];
    return marks.some(({ atLine }) => !atLine) || (marks.length > 0 && "line");
  }
}

/** A mark that is a word begins where one does. */
function isInWord(text: string, at: number): boolean {
  return /[A-Za-z]/.test(text.charAt(at)) && /[\w-]/.test(text.charAt(at - 1));
}

/** Without white space, and without the numbers of lines and the marks of a quotation before them. */
function plain(text: string): string {
  return text.replace(/^[ \t]*(?:>[ \t]?)*(?:\d+\t)?/gm, "").replace(/\s+/g, "");
}
