/** Hooks around one tool call. */
import { isDeepStrictEqual } from "node:util";
import { cleanLine } from "../../../policy/clean.ts";
import { callText } from "../../../protocol/results/hooks.ts";
import { ToolError } from "../../../shared/errors.ts";
import { isRecord } from "../../../shared/records.ts";
import type { ToolCall } from "../../log/messages.ts";
import type { Keeper } from "../../ports/commands.ts";
import type { ToolResult } from "../../tools/define.ts";
import type { CheckpointPorts } from "../permission/checkpointed.ts";
import { settleEffects } from "../permission/effects.ts";
import type { Meaning } from "../permission/meant_by.ts";
import type { ForcedQuestion, Permissions } from "../permission/permission.ts";
import { changedArguments, type HookCall, hookCalls, hookResponse } from "./hook_tools.ts";
import { hookTexts, type TurnHooks } from "./turn_hooks.ts";

/** A call whose tool and arguments are known. */
type KnownCall = ToolCall & Meaning;

/** Files of one call that hooks check. */
const MOST_PARTS = 30;
/** Characters of the call that the model made, for the user. */
const LONGEST_CALL = 120;

export type GuardedCall<Call> =
  | { readonly type: "refused"; readonly error: ToolError }
  | {
    readonly type: "open";
    readonly call: Call;
    readonly forced?: ForcedQuestion;
    /** A hook has changed it: which one, and what the model asked for. One line for the user. */
    readonly changed?: string;
    /** For the model, behind the call's result. */
    readonly text: string;
  };

interface GuardPorts<Call> {
  readonly hooks: TurnHooks | undefined;
  readonly root: string;
  /** Reads a call whose arguments a hook has changed. */
  read(call: ToolCall): Call;
}

/** Asks the hooks about a call before it is judged. A changed call is judged like any other. */
export async function guardCall<Call extends KnownCall>(
  call: Call,
  { hooks, root, read }: GuardPorts<Call>,
  signal: AbortSignal,
): Promise<GuardedCall<Call>> {
  const parts = hooks?.has("PreToolUse") === true ? partsOf(call, root) : [];
  if (hooks === undefined || parts.length === 0) return { type: "open", call, text: "" };
  if (parts.length > MOST_PARTS) {
    return {
      type: "refused",
      error: new ToolError(
        `Not run: hooks check at most ${MOST_PARTS} files in one call. Send several calls.`,
        "not run: too many files for hooks",
      ),
    };
  }
  const answer = await hooks.before(call.id, parts, signal);
  const { decision, reason = "a hook gave no reason", changed, stop } = answer;
  if (decision === "deny" || stop !== undefined) {
    const why = decision === "deny" ? reason : stop ?? reason;
    return {
      type: "refused",
      error: new ToolError(`Not allowed: ${why}.${hookTexts(answer)}`, `not allowed: ${why}`),
    };
  }
  const forced = decision === "ask" ? forcedBy(reason) : undefined;
  const text = hookTexts(answer);
  if (changed === undefined) return { type: "open", call, text, ...forced === undefined ? {} : { forced } };
  const args = parts.length > 1
    ? undefined
    : changedArguments(call.tool?.name ?? "", changed.input, argumentsOf(call));
  if (args === undefined || call.tool === undefined) {
    const why = `the hook ${changed.hook} wants to change this call, which is not possible`;
    return { type: "open", call, text, forced: forcedBy(why) };
  }
  const again = read({ id: call.id, name: call.tool.name, arguments: JSON.stringify(args) });
  const note = `\n[the hook ${changed.hook} has changed the call to: ${JSON.stringify(args)}]`;
  return {
    type: "open",
    call: { ...again, name: call.name },
    text: note + text,
    changed: `the hook ${changed.hook} changed this call; the model asked for: ${
      parts.map((part) => cleanLine(callText(part), LONGEST_CALL)).join("")
    }`,
    ...forced === undefined ? {} : { forced },
  };
}

/**
 * Asks the hooks about a call whose command the user has edited and approved, so their questions are answered. The
 * user has not approved a change by a hook, so a changed call does not run.
 */
export async function guardEdit<Call extends KnownCall>(
  call: Call,
  ports: GuardPorts<Call>,
  signal: AbortSignal,
): Promise<GuardedCall<Call>> {
  const guard = await guardCall(call, ports, signal);
  if (guard.type === "refused" || isDeepStrictEqual(argumentsOf(guard.call), argumentsOf(call))) return guard;
  const changed = `a hook has changed the command that the user edited to: ${
    JSON.stringify(argumentsOf(guard.call))
  }`;
  return {
    type: "refused",
    error: new ToolError(`Not run: ${changed}. Call it so.`, "a hook changes the edited command"),
  };
}

/** The hook asks again at each such call. */
function forcedBy(reason: string): ForcedQuestion {
  return { rule: "hook", reason, isSingle: true };
}

interface AfterPorts extends Pick<CheckpointPorts, "emit" | "traps"> {
  readonly hooks?: TurnHooks | undefined;
  readonly checkpoints: Keeper;
  /** Real paths. */
  readonly roots: readonly string[];
}

/** Runs the hooks after a call that has succeeded, and keeps the files that they change with the call's own. */
export async function afterCall(
  call: KnownCall,
  result: ToolResult,
  permissions: Permissions,
  ports: AfterPorts,
  signal: AbortSignal,
): Promise<ToolResult> {
  const { hooks, roots: [root = ""] } = ports;
  if (hooks?.has("PostToolUse") !== true || result.failed === true) return result;
  let settled = result;
  for (const part of partsOf(call, root, result).slice(0, MOST_PARTS)) {
    const response = (longest: number) => hookResponse(part, result.text.slice(0, longest));
    const { effects, ...answer } = await hooks.after(call.id, part, response, signal);
    if (effects !== undefined) {
      const { author, changes } = effects;
      settled = await settleEffects(call.id, { ...settled, effects: changes }, permissions, ports, signal, {
        author,
      });
    }
    const objection = answer.decision === "deny" ? `\n[a hook objects: ${answer.reason ?? ""}]` : "";
    settled = { ...settled, text: settled.text + objection + hookTexts(answer) };
    if (answer.stop !== undefined) break;
  }
  return settled;
}

function partsOf(
  call: KnownCall,
  root: string,
  { changes = [] }: Partial<ToolResult> = {},
): readonly HookCall[] {
  if (call.tool === undefined) return [];
  // A refactoring names one file and may change many.
  if (call.tool.name !== "refactor" || changes.length === 0) {
    return hookCalls(call.tool.name, argumentsOf(call), root);
  }
  return changes.map(({ path }) => ({
    tool: "Edit",
    input: { file_path: path, old_string: "", new_string: "" },
  }));
}

function argumentsOf({ fitted }: Pick<Meaning, "fitted">): Readonly<Record<string, unknown>> {
  return fitted.ok && isRecord(fitted.value) ? fitted.value : {};
}
