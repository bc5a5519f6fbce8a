/** The format of `.cursor/hooks.json`, in terms of Claude Code's. Source: cursor.com/docs/hooks. Pure. */
import type { HookInput } from "../../protocol/results/hooks.ts";
import { defined, isRecord } from "../../shared/records.ts";

const EVENTS: Readonly<Record<string, { readonly event: string; readonly matcher?: string }>> = {
  sessionStart: { event: "SessionStart" },
  sessionEnd: { event: "SessionEnd" },
  beforeSubmitPrompt: { event: "UserPromptSubmit" },
  preToolUse: { event: "PreToolUse" },
  postToolUse: { event: "PostToolUse" },
  beforeShellExecution: { event: "PreToolUse", matcher: "Bash" },
  afterShellExecution: { event: "PostToolUse", matcher: "Bash" },
  beforeMCPExecution: { event: "PreToolUse", matcher: "^mcp__" },
  afterMCPExecution: { event: "PostToolUse", matcher: "^mcp__" },
  beforeReadFile: { event: "PreToolUse", matcher: "Read" },
  afterFileEdit: { event: "PostToolUse", matcher: "Edit|MultiEdit|Write" },
  preCompact: { event: "PreCompact" },
  stop: { event: "Stop" },
  subagentStop: { event: "SubagentStop" },
};

/** Claude Code's names → Cursor's. */
const TOOLS: readonly (readonly [string, string])[] = [
  ["Bash", "Shell"],
  ["Edit", "Write"],
  ["MultiEdit", "Write"],
  ["Glob", "Grep"],
];

/** @param matcher of the entry, over Cursor's names of tools */
export function cursorEvent(
  name: string,
  matcher: unknown,
): { readonly event: string; readonly matcher: string } {
  const known = Object.hasOwn(EVENTS, name) ? EVENTS[name] : undefined;
  // The matcher of a shell event is about its command, which the hook gets in any case.
  const own = known?.matcher ?? (typeof matcher === "string" ? withOurNames(matcher) : "");
  return { event: known?.event ?? name, matcher: own };
}

function withOurNames(matcher: string): string {
  const names = matcher.split("|").flatMap((name) => {
    const ours = TOOLS.filter(([, cursor]) => cursor === name.trim()).map(([claude]) => claude);
    return ours.length === 0 ? [name] : [...ours, ...name === "Shell" ? [] : [name]];
  });
  return names.join("|").replace(/MCP:/g, "mcp__.*");
}

/** The fields of Cursor's scripts beside those of Claude Code. */
export function cursorFields(
  name: string,
  input: HookInput,
  session: { readonly id: string; readonly roots: readonly string[] },
): Readonly<Record<string, unknown>> {
  return {
    conversation_id: session.id,
    generation_id: session.id,
    hook_event_name: name,
    workspace_roots: session.roots,
    ...eventFields(input),
  };
}

function eventFields(input: HookInput): Readonly<Record<string, unknown>> {
  switch (input.event) {
    case "PreToolUse":
    case "PostToolUse": {
      const { tool, input: fields } = input;
      const { command, file_path, old_string, new_string, content, edits } = fields;
      const edited = edits ?? [{ old_string: old_string ?? "", new_string: new_string ?? content ?? "" }];
      const response = input.event === "PostToolUse" ? input.response : undefined;
      const { stdout } = isRecord(response) ? response : {};
      return defined({
        tool_name: TOOLS.find(([claude]) => claude === tool)?.[1] ?? tool,
        command,
        file_path,
        output: stdout,
        edits: file_path === undefined ? undefined : edited,
        result_json: response === undefined ? undefined : JSON.stringify(response),
      });
    }
    case "UserPromptSubmit":
      return { attachments: [] };
    case "Stop":
    case "SubagentStop":
      return { status: "completed", loop_count: input.again ? 1 : 0 };
    default:
      return {};
  }
}

/** Converts the output of Cursor's scripts to the fields of Claude Code. */
export function fromCursor(event: HookInput["event"], printed: Readonly<Record<string, unknown>>): unknown {
  const text = (...values: readonly unknown[]) => values.find((value) => typeof value === "string");
  const { permission, updated_input, additional_context, followup_message, ...rest } = printed;
  const ofUser = text(rest.user_message, rest.userMessage);
  const reason = text(rest.agent_message, rest.agentMessage, ofUser);
  const blocks = event === "UserPromptSubmit" && rest.continue === false;
  return {
    ...blocks ? {} : defined({ continue: rest.continue }),
    ...defined({ systemMessage: ofUser, reason: followup_message ?? reason }),
    ...blocks || followup_message !== undefined ? { decision: "block" } : {},
    hookSpecificOutput: defined({
      permissionDecision: permission,
      permissionDecisionReason: reason,
      updatedInput: updated_input,
      additionalContext: additional_context,
    }),
  };
}
