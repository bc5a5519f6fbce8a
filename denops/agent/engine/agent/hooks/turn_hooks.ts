/** The hooks of one turn. A hook can forbid and add; what rules deny or ask stays so. */
import type { HookEvent, HookInput } from "../../../protocol/results/hooks.ts";
import { messageOf, TurnError } from "../../../shared/errors.ts";
import { defined } from "../../../shared/records.ts";
import { hookText } from "../../../shared/text/fence.ts";
import type { HookAnswer, Hooks } from "../../ports/hooks.ts";
import type { HookCall } from "./hook_tools.ts";

const SILENT: HookAnswer = { context: [] };
/** Characters of a result that hooks get. */
const LONGEST_RESPONSE = 200_000;

/** Sessions, by their hooks, that were compacted since the last request. */
const COMPACTED = new WeakSet<Hooks>();

export class TurnHooks {
  readonly #hooks: Hooks;
  #stop: string | undefined;
  /** Why the session is not compacted automatically in this turn. */
  #againstCompaction: string | undefined;

  constructor(hooks: Hooks) {
    this.#hooks = hooks;
  }

  has(event: HookEvent): boolean {
    return this.#hooks.events.has(event);
  }

  /**
   * @returns why hooks do not let the session be compacted; undefined: they do
   * @throws {TurnError} instead, if the user has requested it
   */
  async againstCompaction(
    trigger: "manual" | "auto",
    focus: string | undefined,
    signal: AbortSignal,
  ): Promise<string | undefined> {
    if (trigger === "auto" && this.#againstCompaction !== undefined) return this.#againstCompaction;
    const answer = await this.run({ event: "PreCompact", trigger, instructions: focus ?? "" }, signal);
    if (answer.decision !== "deny") return undefined;
    const reason = answer.reason ?? "a hook refuses it";
    // Each request would ask again.
    if (trigger === "auto") return this.#againstCompaction = reason;
    throw new TurnError("setup", `Cannot compact the session: ${reason}.`, "See :Agent hooks.");
  }

  compacted(): void {
    if (this.has("SessionStart")) COMPACTED.add(this.#hooks);
  }

  /** Whether the session was compacted since the last time. */
  takeCompacted(): boolean {
    return COMPACTED.delete(this.#hooks);
  }

  /** A hook has ended the turn: the reason. */
  get stop(): string | undefined {
    return this.#stop;
  }

  /** Before a call: each of its parts, until one is refused. If hooks cannot run, the user decides. */
  async before(id: string, calls: readonly HookCall[], signal: AbortSignal): Promise<HookAnswer> {
    let joined: HookAnswer = SILENT;
    for (const { tool, input } of calls) {
      const answer = await this.#run({ event: "PreToolUse", call: id, tool, input: { ...input } }, signal);
      const { decision = joined.decision, reason = joined.reason } = answer;
      joined = {
        ...joined,
        ...answer,
        ...defined({ decision, reason }),
        context: [...joined.context, ...answer.context],
      };
      if (answer.decision === "deny") break;
    }
    return joined;
  }

  /** After a call that has succeeded. */
  async after(
    id: string,
    { tool, input }: HookCall,
    response: (longest: number) => unknown,
    signal: AbortSignal,
  ): Promise<HookAnswer> {
    const request = { call: id, tool, input: { ...input }, response: response(LONGEST_RESPONSE) };
    return await this.#run({ event: "PostToolUse", ...request }, signal);
  }

  async run(input: HookInput, signal: AbortSignal): Promise<HookAnswer> {
    return this.has(input.event) ? await this.#run(input, signal) : SILENT;
  }

  async #run(input: HookInput, signal: AbortSignal): Promise<HookAnswer> {
    try {
      const answer = await this.#hooks.run(input, signal);
      this.#stop ??= answer.stop;
      return answer;
    } catch (error) {
      signal.throwIfAborted();
      if (input.event !== "PreToolUse") return SILENT;
      return { ...SILENT, decision: "ask", reason: `the hooks cannot run: ${messageOf(error)}` };
    }
  }
}

/** The texts of hooks for the model. */
export function hookTexts({ context }: Pick<HookAnswer, "context">): string {
  return context.map((one) => `\n${hookText(one)}`).join("");
}
