/** The user's hooks over the screen's requests. */
import type { HookEvent } from "../../protocol/results/hooks.ts";
import type { Hooks } from "../ports/hooks.ts";
import { effectsOf } from "./commands.ts";
import type { Screen } from "./screen.ts";

/** @param events that have hooks */
export function screenHooks(screen: Screen, events: readonly HookEvent[]): Hooks {
  return {
    events: new Set(events),
    async run(input, signal) {
      const { effects, ...outcome } = await screen.ask("hook", { input }, signal);
      if (effects === undefined) return outcome;
      const { terminal, hook: author } = effects;
      const release = () => void screen.ask("hook_release", { terminal }).catch(() => {});
      return { ...outcome, effects: { author, changes: effectsOf(screen, terminal, effects, release) } };
    },
  };
}
