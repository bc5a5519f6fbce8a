/** Commands at the gate: how a line is judged there, and what is shown of it. */
import { relative } from "node:path";
import { type CommandVerdict, judgeCommand } from "../../policy/command.ts";
import { type CommandDecision, decideCommand } from "../../policy/decide_command.ts";
import type { Decision } from "../../policy/file_access.ts";
import { suggestRules } from "../../policy/rules.ts";
import {
  type CommandAccess,
  commandAccess,
  type CommandInput,
  hasNetwork,
  levelOf,
} from "../../protocol/commands.ts";
import type { UserConfig } from "../../protocol/config.ts";
import type { ApprovalMeta } from "../../protocol/extensions.ts";
import type { ApprovalUpdate } from "../../protocol/ui.ts";
import type { ApprovalLog } from "./approval_log.ts";
import type { CommandView } from "../commands/sandbox.ts";
import type { RuleBook } from "./rule_book.ts";
import { LONGEST_FOLDER, middleCut, visible } from "../screen/visible.ts";
import { neovimEnvironment } from "../system/neovim_environment.ts";

/** Where a request comes from. */
export interface GateContext {
  readonly chat: number;
  readonly root: string;
  readonly rules: RuleBook;
  readonly log: ApprovalLog;
  readonly commands: UserConfig["commands"];
  /** What commands would see; undefined where no operating system's sandbox holds them. */
  readonly view: CommandView | undefined;
}

/** What an approval shows beside its call. */
export type Shown = Omit<ApprovalUpdate, "type" | "chat" | "request" | "tool" | "title">;

export interface JudgedCommand extends CommandDecision {
  /** What is asked for; `access` is what it would run at. */
  readonly asked: CommandAccess;
}

/** Without a sandbox nothing holds a command. */
const UNHELD: CommandAccess = "git+network";

export function judge(line: string, input: CommandInput, context: GateContext): JudgedCommand {
  const { view } = context;
  const asked = view === undefined ? UNHELD : input.access ?? proposed(line, context);
  const judged = decideCommand({ line, access: asked }, {
    rules: context.rules.rules(context.chat),
    sandboxed: view !== undefined,
    commands: context.commands,
    places: placesOf(context),
  });
  if (view === undefined || view.masks.complete || judged.decision.verdict !== "allow") {
    return { ...judged, asked };
  }
  // It would see what it may not.
  const reason = `some files that it must not read cannot be hidden: ${view.masks.reason}`;
  return { ...judged, asked, decision: { verdict: "ask", rule: "deny_read", reason } };
}

/** Which access the line seems to need. */
function proposed(line: string, context: GateContext): CommandAccess {
  const { access, commands } = judgeCommand(line, placesOf(context));
  const needsHistory = commands.some(({ words }) => words[0] === "git");
  // In a look it would not see the history.
  const hidden = context.view?.tracked !== undefined && needsHistory;
  return hidden ? commandAccess("git", hasNetwork(access)) : access;
}

function placesOf({ root }: GateContext) {
  const { HOME: home } = neovimEnvironment();
  return { root, ...(home === undefined ? {} : { home }) };
}

/** What "for this session" allows: this line, in this folder, at this access and no other. */
export function sessionKey(chat: number, line: string, { cwd }: CommandInput, access: CommandAccess): string {
  return JSON.stringify([chat, line, cwd, access]);
}

export function shownCommand(
  command: string,
  input: CommandInput,
  meta: ApprovalMeta | undefined,
  context: GateContext,
): Shown {
  const judged = judge(command, input, context);
  const { decision, verdict, always, asked } = judged;
  const isEdited = command !== input.command;
  // An allow rule would not be stronger than the one that asks, nor than what asks although the rules allow it.
  const suggestion = always || decision.verdict !== "ask" || isRuled(decision)
    ? undefined
    : suggested(verdict, asked);
  const asks = decision.verdict !== "allow" && (meta?.force !== true || isEdited);
  const reason = asks ? decision.reason : meta?.force === true ? meta.reason : verdict.reason;
  return {
    reason: [reason, ...historyNote(command, input, context)].join("; "),
    command: visible(command),
    folder: middleCut(relative(context.root, input.cwd) || ".", LONGEST_FOLDER),
    ...(context.view === undefined ? {} : { access: asked }),
    severity: verdict.severity,
    ...(isEdited ? { is_edited: true } : {}),
    ...(suggestion === undefined ? {} : { suggestion }),
  };
}

/** Why a line that only looks asks for more. */
function historyNote(command: string, input: CommandInput, context: GateContext): readonly string[] {
  if (input.access !== undefined || context.view?.tracked === undefined) return [];
  const wanted = judgeCommand(command, placesOf(context)).access;
  if (levelOf(wanted) === levelOf(proposed(command, context))) return [];
  return [`git's history contains ${visible(context.view.tracked)}, which must not be read`];
}

/** The rules that would have answered; level git and the network have rules of their own. */
function suggested(verdict: CommandVerdict, access: CommandAccess): string | undefined {
  const rules = suggestRules(verdict, levelOf(access) === "git" ? "git" : "run");
  const more = hasNetwork(access) ? suggestRules(verdict, "network") : [];
  return rules === undefined ? undefined : [...rules, ...more ?? []].join(", ");
}

/** A rule of the user's own asks or denies. */
function isRuled(decision: Decision): boolean {
  return decision.verdict !== "allow" && /^(run|git|network)\(/.test(decision.rule);
}
