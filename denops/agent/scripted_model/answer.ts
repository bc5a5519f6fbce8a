/** The answers in a script. For the format, see script.ts. */

export const STOP_REASONS = ["end_turn", "length", "tool_calls", "content_filter"] as const;
type KnownReason = (typeof STOP_REASONS)[number];
/** A wire's own word follows "=". */
export type ScriptedStop = KnownReason | `=${string}`;

/** The wire's word for it. */
export function wordOf(stop: ScriptedStop, words: Readonly<Record<KnownReason, string>>): string {
  return isKnown(stop) ? words[stop] : stop.slice(1);
}

function isKnown(stop: string): stop is KnownReason {
  return STOP_REASONS.some((known) => known === stop);
}

/** One event of an answer, in the order of the script. */
export type ScriptedPart =
  | { readonly kind: "say"; readonly text: string }
  | { readonly kind: "think"; readonly text: string }
  | { readonly kind: "call"; readonly name: string; readonly arguments: string }
  | { readonly kind: "flood"; readonly tokens: number }
  | { readonly kind: "big"; readonly bytes: number }
  | { readonly kind: "pieces"; readonly characters: number }
  | Control
  | Ending;

/** Events of the connection, which the wires pass through unchanged. */
export type Control =
  | { readonly kind: "slow"; readonly milliseconds: number }
  | { readonly kind: "wait"; readonly name: string }
  | { readonly kind: "split"; readonly bytes: number }
  | { readonly kind: "garbage"; readonly bytes: Uint8Array<ArrayBuffer> }
  | { readonly kind: "cut" };

/** Nothing follows these. `status` and `html` replace the stream. */
export type Ending =
  | { readonly kind: "eof" }
  | { readonly kind: "error"; readonly type: string | undefined; readonly message: string }
  | HttpAnswer;

export type HttpAnswer =
  | {
    readonly kind: "status";
    readonly code: number;
    readonly headers: Readonly<Record<string, string>>;
    readonly body: string | undefined;
  }
  | { readonly kind: "html" };

/** Tokens; `input` is the whole prompt and includes `cached`. */
export interface ScriptedUsage {
  readonly input: number;
  readonly output: number;
  readonly cached: number;
}

export interface Expectation {
  readonly line: number;
  readonly text: string;
  readonly wanted: boolean;
}

export interface Answer {
  /** Line of its first directive. */
  readonly line: number;
  readonly parts: readonly ScriptedPart[];
  readonly stop: ScriptedStop | undefined;
  readonly usage: ScriptedUsage | undefined;
  readonly when: string | undefined;
  readonly expectations: readonly Expectation[];
  readonly interleave: boolean;
  readonly noDone: boolean;
  readonly repeat: boolean;
  readonly newHistory: boolean;
}

export interface Script {
  readonly name: string;
  readonly answers: readonly Answer[];
}

/** Whether nothing comes after `part`; in a parsed answer only the last part can be such. */
export function endsAnswer({ kind }: ScriptedPart): boolean {
  return kind === "cut" || kind === "eof" || kind === "error" || kind === "status" || kind === "html";
}
