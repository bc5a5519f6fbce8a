/** Hooks: events, the engine's request for them, and their outcome. Source: code.claude.com/docs/en/hooks. */
import * as z from "../../deps/zod.ts";
import { CommandEffects } from "../commands.ts";

export const HookEvent = z.enum([
  "SessionStart",
  "UserPromptSubmit",
  "PreToolUse",
  "PostToolUse",
  "PreCompact",
  "Stop",
  "SubagentStop",
  "Notification",
  "SessionEnd",
]);
export type HookEvent = z.infer<typeof HookEvent>;

/** Matchers are compared with names. */
const name = z.string().max(200);
/** A call in the words of hooks: engine/agent/hooks/hook_tools.ts. `tool` is a name such as "Bash". */
const call = {
  call: z.string(),
  tool: name,
  input: z.record(z.string(), z.unknown()),
};
/** Whether a hook has already kept this turn from ending. */
const stop = { again: z.boolean(), message: z.string() };

/** An event with its details. */
export const HookInput = z.discriminatedUnion("event", [
  z.object({ event: z.literal("SessionStart"), source: z.enum(["startup", "resume", "compact"]) }),
  z.object({ event: z.literal("UserPromptSubmit"), prompt: z.string() }),
  z.object({ event: z.literal("PreToolUse"), ...call }),
  z.object({ event: z.literal("PostToolUse"), ...call, response: z.unknown() }),
  z.object({
    event: z.literal("PreCompact"),
    trigger: z.enum(["manual", "auto"]),
    instructions: z.string(),
  }),
  z.object({ event: z.literal("Stop"), ...stop }),
  z.object({ event: z.literal("SubagentStop"), ...stop, agent: name }),
  z.object({ event: z.literal("Notification"), message: z.string(), about: name }),
  z.object({ event: z.literal("SessionEnd"), reason: name }),
]);
export type HookInput = z.infer<typeof HookInput>;

/** The call in one text, for users: its command, or all of its input. */
export function callText(input: object): string {
  const details: unknown = "input" in input ? input.input : {};
  const isCommand = typeof details === "object" && details !== null && "command" in details;
  return isCommand && typeof details.command === "string" ? details.command : JSON.stringify(details);
}

export const HookText = z.object({ hook: z.string(), text: z.string(), of_user: z.boolean() });
export type HookText = z.infer<typeof HookText>;

/** The joint decision of the hooks of an event. All texts come from hooks. */
export const HookOutcome = z.object({
  /** "deny": the call, the message, the compaction or the end of the turn is refused. */
  decision: z.enum(["deny", "ask"]).optional(),
  reason: z.string().optional(),
  /** The call's new input, in the words of hooks, and the hook that made it. */
  changed: z.object({ hook: z.string(), input: z.record(z.string(), z.unknown()) }).optional(),
  /** Text for the model. `of_user`: the hook is in the user's own options or files. */
  context: z.array(HookText),
  /** The turn ends here; the reason. */
  stop: z.string().optional(),
  /** Files that hooks have changed. `terminal` stands for them until `hook_release`. */
  effects: CommandEffects.extend({ terminal: z.string(), hook: z.string() }).optional(),
});
export type HookOutcome = z.infer<typeof HookOutcome>;

/** A hook for the user. */
export interface HookView {
  readonly id: string;
  /** One line: its event, its matcher and its name. */
  readonly label: string;
  readonly state: "approved" | "not approved" | "changed" | "refused" | "unsupported";
  /** Its last result, one line; "" before its first run. */
  readonly last: string;
  /** Everything that the user approves, one line each. */
  readonly description: readonly string[];
}
