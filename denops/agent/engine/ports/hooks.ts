/** The user's hooks. The supervisor runs them, after the user has approved each. */
import type { HookEvent, HookInput, HookOutcome } from "../../protocol/results/hooks.ts";
import type { Effects } from "./commands.ts";

export interface HookAnswer extends Omit<HookOutcome, "effects"> {
  /** Files that hooks have changed, and whose they are. The caller settles and disposes of them. */
  readonly effects?: { readonly author: string; readonly changes: Effects };
}

export interface Hooks {
  /** The events that have hooks. */
  readonly events: ReadonlySet<HookEvent>;
  /** @throws {Error} one line */
  run(input: HookInput, signal: AbortSignal): Promise<HookAnswer>;
}
