/** The standard input of a hook. Source: code.claude.com/docs/en/hooks, "Hook input". Pure. */
import type { HookInput } from "../../protocol/results/hooks.ts";
import type { Hook } from "./entries.ts";
import { cursorFields } from "./cursor.ts";

export interface HookSession {
  readonly id: string;
  /** Real paths, the project first. */
  readonly roots: readonly string[];
  /** A turn of this session cannot change files. */
  readonly isReadOnly: boolean;
}

/** @returns JSON */
export function payloadOf({ cursor }: Hook, input: HookInput, session: HookSession): string {
  const { id, roots, isReadOnly } = session;
  const common = {
    session_id: id,
    // Sessions are rows of a database; this reads as an empty transcript.
    transcript_path: "/dev/null",
    cwd: roots[0] ?? "",
    permission_mode: isReadOnly ? "plan" : "default",
    hook_event_name: input.event,
    ...fieldsOf(input),
  };
  return JSON.stringify(
    cursor === undefined ? common : { ...common, ...cursorFields(cursor, input, session) },
  );
}

function fieldsOf(input: HookInput): Readonly<Record<string, unknown>> {
  switch (input.event) {
    case "SessionStart":
      return { source: input.source };
    case "UserPromptSubmit":
      return { prompt: input.prompt };
    case "PreToolUse":
      return { tool_name: input.tool, tool_input: input.input, tool_use_id: input.call };
    case "PostToolUse":
      return {
        tool_name: input.tool,
        tool_input: input.input,
        tool_response: input.response,
        tool_use_id: input.call,
      };
    case "PreCompact":
      return { trigger: input.trigger, custom_instructions: input.instructions };
    case "Stop":
      return { stop_hook_active: input.again, last_assistant_message: input.message };
    case "SubagentStop":
      return {
        stop_hook_active: input.again,
        last_assistant_message: input.message,
        agent_type: input.agent,
      };
    case "Notification":
      return { message: input.message, notification_type: input.about };
    case "SessionEnd":
      return { reason: input.reason };
  }
}

/** The text that the matchers of an event are compared with; undefined: they do not matter. */
export function subjectOf(input: HookInput): string | undefined {
  switch (input.event) {
    case "PreToolUse":
    case "PostToolUse":
      return input.tool;
    case "SessionStart":
      return input.source;
    case "PreCompact":
      return input.trigger;
    case "SubagentStop":
      return input.agent;
    case "Notification":
      return input.about;
    case "SessionEnd":
      return input.reason;
    case "UserPromptSubmit":
    case "Stop":
      return undefined;
  }
}
