/** Commands at the gate: how a line is judged there, and what is shown of it. */
import { relative } from "node:path";
import { type CommandVerdict, judgeCommand } from "../policy/command.ts";
import { type CommandDecision, decideCommand } from "../policy/decide_command.ts";
import type { Decision } from "../policy/file_access.ts";
import { suggestRules } from "../policy/rules.ts";
import {
  type CommandAccess,
  commandAccess,
  type CommandInput,
  hasNetwork,
  levelOf,
} from "../protocol/commands.ts";
import type { ApprovalMeta } from "../protocol/extensions.ts";
import type { ApprovalUpdate } from "../protocol/ui.ts";
import type { ApprovalLog } from "./approval_log.ts";
import type { RuleBook } from "./rule_book.ts";
import { visible } from "./visible.ts";

const HOME = Deno.env.get("HOME");

/** Where a request comes from. */
export interface GateContext {
  readonly chat: number;
  readonly root: string;
  readonly rules: RuleBook;
  readonly log: ApprovalLog;
  readonly sandboxed: boolean;
  readonly allowSafe: boolean;
}

/** What an approval shows beside its call. */
export type Shown = Omit<ApprovalUpdate, "type" | "chat" | "request" | "tool" | "title">;

export function judge(line: string, { network }: CommandInput, context: GateContext): CommandDecision {
  const places = { root: context.root, ...(HOME === undefined ? {} : { home: HOME }) };
  const read = judgeCommand(line, places);
  const level = levelOf(read.access);
  // As long as each command may write, only what reads as harmless is a look.
  const access = commandAccess(level === "look" && read.severity !== "none" ? "write" : level, network);
  return decideCommand({ line, access }, {
    rules: context.rules.rules(context.chat),
    sandboxed: context.sandboxed,
    commands: context.allowSafe ? "look" : "ask",
    places,
  });
}

/** What "for this session" allows: this line, with or without network. */
export function sessionKey(chat: number, line: string, { network }: CommandInput): string {
  return JSON.stringify([chat, line, network]);
}

export function shownCommand(
  command: string,
  input: CommandInput,
  meta: ApprovalMeta | undefined,
  context: GateContext,
): Shown {
  const { decision, verdict, always, access } = judge(command, input, context);
  const isEdited = command !== input.command;
  // An allow rule would not be stronger than the one that asks, nor than what asks although the rules allow it.
  const suggestion = always || decision.verdict !== "ask" || isRuled(decision)
    ? undefined
    : suggested(verdict, access);
  const asked = decision.verdict !== "allow" && (meta?.force !== true || isEdited);
  return {
    reason: asked ? decision.reason : meta?.force === true ? meta.reason : verdict.reason,
    command: visible(command),
    folder: relative(context.root, input.cwd) || ".",
    network: input.network,
    severity: verdict.severity,
    ...(isEdited ? { is_edited: true } : {}),
    ...(suggestion === undefined ? {} : { suggestion }),
  };
}

/** The rules that would have answered; the network has rules of its own. */
function suggested(verdict: CommandVerdict, access: CommandAccess): string | undefined {
  const rules = suggestRules(verdict, levelOf(access) === "git" ? "git" : "run");
  const more = hasNetwork(access) ? suggestRules(verdict, "network") : [];
  return rules === undefined ? undefined : [...rules, ...more ?? []].join(", ");
}

/** A rule of the user's own asks or denies. */
function isRuled(decision: Decision): boolean {
  return decision.verdict !== "allow" && /^(run|git|network)\(/.test(decision.rule);
}
