/** The decision of a hook, by its exit code and its output. Source: code.claude.com/docs/en/hooks. Pure. */
import * as z from "../../deps/zod.ts";
import { cleanText } from "../../policy/clean.ts";
import { firstProblem } from "../../protocol/options/problems.ts";
import type { HookEvent } from "../../protocol/results/hooks.ts";
import { defined, isRecord } from "../../shared/records.ts";
import { fromCursor } from "./cursor.ts";

/** The end of a hook's process. `why`: half a sentence. */
export type HookEnd =
  | { readonly type: "exited"; readonly code: number; readonly stdout: string; readonly stderr: string }
  | { readonly type: "failed"; readonly why: string };

export interface HookDecision {
  readonly decision?: "allow" | "deny" | "ask";
  readonly reason?: string;
  readonly input?: Readonly<Record<string, unknown>>;
  /** For the model. */
  readonly context?: string;
  /** For the user. */
  readonly message?: string;
  /** The turn ends; the reason. */
  readonly stop?: string;
  /** It failed, half a sentence. */
  readonly failure?: string;
}

/** Characters of a text of a hook. */
const LONGEST_TEXT = 10_000;
const LONGEST_REASON = 2_000;
const BLOCKS = 2;

const Printed = z.looseObject({
  continue: z.boolean().optional(),
  stopReason: z.string().optional(),
  systemMessage: z.string().optional(),
  decision: z.enum(["approve", "block"]).nullish(),
  reason: z.string().optional(),
  hookSpecificOutput: z.looseObject({
    hookEventName: z.string().optional(),
    permissionDecision: z.enum(["allow", "deny", "ask", "defer"]).optional(),
    permissionDecisionReason: z.string().optional(),
    updatedInput: z.record(z.string(), z.unknown()).optional(),
    additionalContext: z.string().optional(),
  }).optional(),
});

/** Events whose plain output is text for the model. */
const SPEAKS: ReadonlySet<HookEvent> = new Set(["SessionStart", "UserPromptSubmit"]);
/** Events that a hook cannot refuse. After a tool, its reason is for the model. */
const NOT_REFUSED: ReadonlySet<HookEvent> = new Set(["SessionStart", "Notification", "SessionEnd"]);

/** @param cursor the script writes Cursor's fields */
export function decisionOf(event: HookEvent, end: HookEnd, cursor = false): HookDecision {
  if (end.type === "failed") return { failure: end.why };
  const { code, stdout, stderr } = end;
  if (code === BLOCKS) return refusal(event, stderr.trim() || "it gave no reason");
  if (code !== 0) {
    const [last = ""] = stderr.trim().split("\n").slice(-1);
    return { failure: cut(`exit code ${code}${last === "" ? "" : `: ${last}`}`, LONGEST_REASON) };
  }
  const text = stdout.trim();
  if (!text.startsWith("{")) return SPEAKS.has(event) && text !== "" ? { context: cut(text) } : {};
  try {
    const json: unknown = JSON.parse(text);
    return fromJson(event, cursor && isRecord(json) ? fromCursor(event, json) : json);
  } catch {
    return { failure: "its output is not valid JSON" };
  }
}

function fromJson(event: HookEvent, json: unknown): HookDecision {
  const parsed = Printed.safeParse(json);
  if (!parsed.success) {
    return { failure: cut(`its output is not valid: ${firstProblem(parsed.error)}`, LONGEST_REASON) };
  }
  const { systemMessage, reason, decision, hookSpecificOutput: own = {}, ...printed } = parsed.data;
  if (own.hookEventName !== undefined && own.hookEventName !== event) {
    return { failure: cut(`its output is for ${own.hookEventName.slice(0, 40)}`) };
  }
  const stop = printed.continue === false
    ? (printed.stopReason ?? reason ?? "a hook ended the turn")
    : undefined;
  const rest = defined({
    message: systemMessage === undefined ? undefined : cut(systemMessage, LONGEST_REASON),
    context: own.additionalContext === undefined || own.additionalContext.trim() === ""
      ? undefined
      : cut(own.additionalContext),
    stop: stop === undefined ? undefined : cut(stop, LONGEST_REASON),
  });
  if (event !== "PreToolUse") {
    return decision === "block" ? { ...rest, ...refusal(event, reason ?? "it gave no reason") } : rest;
  }
  const permission = own.permissionDecision ??
    (decision === "block" ? "deny" : decision === "approve" ? "allow" : undefined);
  const why = own.permissionDecisionReason ?? reason;
  return {
    ...rest,
    ...defined({
      decision: permission === "defer" ? undefined : permission,
      reason: why === undefined ? undefined : cut(why, LONGEST_REASON),
      // A refused call has no new input.
      input: permission === "deny" ? undefined : own.updatedInput,
    }),
  };
}

function refusal(event: HookEvent, reason: string): HookDecision {
  const text = cut(reason, LONGEST_REASON);
  return NOT_REFUSED.has(event) ? { message: text } : { decision: "deny", reason: text };
}

/** For models and screens. */
function cut(text: string, longest = LONGEST_TEXT): string {
  return `${cleanText(text, longest)}${text.length <= longest ? "" : " [cut off]"}`;
}
