/** The results of hooks, for the list, the log and the chat. */
import { callText, type HookInput } from "../../protocol/results/hooks.ts";
import { oneLine } from "../screen/visible.ts";
import type { HookDecision } from "./decision.ts";
import type { Hook } from "./entries.ts";
import type { HookScript } from "./scripts.ts";
import { eventText, hookName, type HookTrustState } from "./trust.ts";

/** One run of an event's hooks. */
export interface HookRun {
  readonly session: string;
  /** A turn of the session cannot change files. */
  readonly isReadOnly: boolean;
  /** Globs of files that hooks must not read. */
  readonly denied: readonly string[];
  readonly signal: AbortSignal;
  /** Whether the user approves a hook; undefined if the turn was stopped. Undefined: nobody can be asked. */
  readonly confirm: ((title: string, detail: string) => Promise<boolean | undefined>) | undefined;
  /** Logs a decision. @param answer such as "denied by hook" @param rule the hook and its reason */
  log(answer: string, title: string, rule: string): void;
  notice(text: string): void;
}

/** A hook with its scripts, as they are now. */
export interface ReadHook {
  readonly hook: Hook;
  readonly scripts: readonly HookScript[];
  /** Names it with its scripts' text. */
  readonly id: string;
  readonly trust: HookTrustState;
}

export interface HookResult {
  readonly read: ReadHook;
  readonly decision: HookDecision;
}

/** Columns of the subject of a call. */
const LONGEST_SUBJECT = 80;

export class HookResults {
  /** By the hook's id. */
  readonly #last = new Map<string, string>();
  readonly #notices = new Set<string>();

  /** One line; "" before the hook's first run. */
  lastOf(id: string): string {
    return this.#last.get(id) ?? "";
  }

  note({ read: { hook, id }, decision }: HookResult, input: HookInput, run: HookRun): void {
    const name = hookName(hook);
    const { decision: word, reason, failure, message, stop, context, input: changed } = decision;
    const title = `${input.event}${"tool" in input ? ` ${input.tool} ${subjectText(input.input)}` : ""}`;
    const because = reason === undefined ? "" : `: ${oneLine(reason)}`;
    const results = [
      ...failure === undefined ? [] : [`failed: ${oneLine(failure)}`],
      ...word === "deny" ? [`refused${because}`] : word === "ask" ? [`asks${because}`] : [],
      ...changed === undefined ? [] : [`changed the call; the model asked for: ${oneLine(callText(input))}`],
      ...context === undefined ? [] : ["added text for the model"],
      ...stop === undefined ? [] : [`ended the turn: ${oneLine(stop)}`],
    ];
    this.#last.set(id, results.length === 0 ? "no objection" : results.join(", "));
    for (const result of results) run.log(`hook ${name}`, title, result);
    if (message !== undefined) run.notice(`${name} says: ${oneLine(message)}`);
    if (failure !== undefined && input.event !== "PreToolUse") {
      this.noticeOnce(`The hook ${name} (${eventText(hook)}) failed: ${oneLine(failure)}.`, run);
    }
  }

  noticeOnce(text: string, { notice }: HookRun): void {
    if (!this.#notices.has(text)) notice(text);
    this.#notices.add(text);
  }
}

/** The subject of a call, for the log. */
function subjectText({ command, file_path, pattern, url }: Readonly<Record<string, unknown>>): string {
  return oneLine(String(command ?? file_path ?? pattern ?? url ?? ""), LONGEST_SUBJECT);
}
