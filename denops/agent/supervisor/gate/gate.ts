/**
 * The gate: what an engine wants to do is judged here once more, by the rules in force and at the moment of
 * acting. An approval of a command is bound to exactly that command and is spent by running it.
 */
import type { Grant } from "../commands/terminals.ts";
import type { RequestPermissionRequest, RequestPermissionResponse } from "../../deps/acp_sdk.ts";
import type { Decision } from "../../policy/file_access.ts";
import { fileRule, parseRule, type Rule, ruleText } from "../../policy/rules.ts";
import { type CommandAccess, CommandInput, commandKey, type TerminalMeta } from "../../protocol/commands.ts";
import { ApprovalMeta, OPTION, ours, PERMISSION_OPTIONS } from "../../protocol/extensions.ts";
import type { LspServer } from "../../protocol/lsp.ts";
import type { ApprovalUpdate, Update } from "../../protocol/ui.ts";
import { approvalOf, CANCELLED, type Choice, outcomeOf } from "./outcome.ts";
import { diffOf } from "../screen/updates.ts";
import { type GateContext, judge, sessionKey, type Shown, shownCommand } from "./command.ts";
import { isPlainLine, oneLine } from "../screen/visible.ts";
import { Waiting } from "../screen/waiting.ts";

export type { GateContext } from "./command.ts";

/** What the user said; undefined: the turn was stopped. */
export interface UserAnswer {
  readonly option: Choice;
  readonly reason?: string | undefined;
  readonly rule?: string | undefined;
  readonly command?: string | undefined;
}

export class Gate {
  readonly #push: (update: Update) => void;
  readonly #nextRequest: () => number;
  readonly #waiting = new Waiting<UserAnswer | undefined>();
  /** Commands that wait for an answer: shows another text in the place of the one that is asked about. */
  readonly #edits = new Map<number, (command: string) => void>();
  /** Approved commands that have not run yet. */
  readonly #granted = new Map<string, Grant & { readonly chat: number }>();
  /** Command lines that the user has allowed for a chat's session. */
  readonly #session = new Set<string>();

  constructor(push: (update: Update) => void, nextRequest: () => number) {
    this.#push = push;
    this.#nextRequest = nextRequest;
  }

  /** False if nothing waits under this number any more. */
  answer(request: number, answer: UserAnswer): boolean {
    return this.#waiting.settle(request, answer);
  }

  /** The user has changed the command of a request that waits. Nothing is approved by that. */
  edit(request: number, command: string): void {
    this.#edits.get(request)?.(command);
  }

  /** The turn of this chat is over: whatever waits is cancelled, and nothing approved stays so. */
  settle(chat: number): void {
    this.#waiting.settleAll(`chat ${chat}`, undefined);
    for (const [key, grant] of this.#granted) {
      if (grant.chat === chat) this.#granted.delete(key);
    }
  }

  /** Answers a permission request of an engine. */
  async permission(
    request: RequestPermissionRequest,
    context: GateContext,
  ): Promise<RequestPermissionResponse> {
    const meta = ours(ApprovalMeta, request._meta);
    const command = CommandInput.safeParse(request.toolCall.rawInput);
    if (request.toolCall.kind === "execute" && command.success) {
      return await this.#command(request, command.data, meta, context);
    }
    const byRule = fileDecision(context.rules.rules(context.chat), meta);
    if (byRule !== undefined && byRule.verdict !== "ask" && meta?.force !== true) {
      return this.#automatic(request, byRule, context);
    }
    const suggestion = suggestedFileRule(meta);
    const answer = await this.#ask(request, context, {
      reason: byRule?.verdict === "ask" ? byRule.reason : meta?.reason ?? "the agent asks",
      ...diffOf(request.toolCall.content, context.root),
      ...(meta?.added === undefined ? {} : { added: meta.added }),
      ...(meta?.removed === undefined ? {} : { removed: meta.removed }),
      // No allow rule is stronger than the one that asks.
      ...(suggestion === undefined || byRule?.verdict === "ask" ? {} : { suggestion }),
    });
    return answer === undefined ? CANCELLED : response(request, answer);
  }

  /**
   * The grant of an approved command, once, on exactly the same command. The policy is asked again: what a rule allows
   * needs no approval, what none allows runs on an approval only.
   */
  spend(sessionId: string, input: TerminalMeta): Grant | undefined {
    const key = commandKey(sessionId, input.toolCallId, input);
    const grant = this.#granted.get(key);
    this.#granted.delete(key);
    return grant;
  }

  /** Asks about a command that its agent did not ask about; undefined if it may not run. */
  async command(
    sessionId: string,
    input: CommandInput,
    context: GateContext,
  ): Promise<TerminalMeta | undefined> {
    const toolCallId = crypto.randomUUID();
    const toolCall = { toolCallId, title: `run ${input.command}`, kind: "execute", rawInput: input } as const;
    const options = [...PERMISSION_OPTIONS];
    const answer = await this.permission({ sessionId, options, toolCall }, context);
    const { command = input.command, access } = approvalOf(answer, options) ?? {};
    return access && { ...input, command, access, toolCallId };
  }

  /** Whether a language server may be started; undefined: the turn was stopped. */
  async startServer({ name, command }: LspServer, context: GateContext): Promise<boolean | undefined> {
    const title = `start the language server ${name}: ${command}`;
    const request = { sessionId: "", options: [], toolCall: { toolCallId: "", title } };
    const reason = "runs outside the sandbox and runs this project's code";
    const answer = await this.#ask(request, context, { reason });
    return answer && answer.option !== OPTION.reject;
  }

  async #command(
    request: RequestPermissionRequest,
    input: CommandInput,
    meta: ApprovalMeta | undefined,
    context: GateContext,
  ): Promise<RequestPermissionResponse> {
    const { sessionId, toolCall } = request;
    const force = meta?.force === true;
    const grant = (command: string, access: CommandAccess) => {
      const key = commandKey(sessionId, toolCall.toolCallId, { ...input, command, access });
      this.#granted.set(key, { chat: context.chat, isMasked: context.view?.masks.complete !== false });
    };
    const { decision, always, access, asked } = judge(input.command, input, context);
    if (decision.verdict === "deny") return this.#automatic(request, decision, context, asked);
    const byUser = this.#session.has(sessionKey(context.chat, input.command, input, asked)) && !always;
    if (decision.verdict === "allow" && !force) {
      grant(input.command, access);
      return this.#automatic(request, decision, context, access);
    }
    if (byUser && !force) {
      grant(input.command, asked);
      return this.#automatic(request, { verdict: "allow", rule: "allowed for this session" }, context, asked);
    }
    const shown = (command: string) => shownCommand(command, input, meta, context);
    const answer = await this.#ask(request, context, shown(input.command), shown);
    if (answer === undefined) return CANCELLED;
    if (answer.option === OPTION.reject) return response(request, answer);
    // What runs is what was shown last, and the rules may have changed since.
    const command = answer.command ?? input.command;
    const last = judge(command, input, context);
    if (last.decision.verdict === "deny") return this.#automatic(request, last.decision, context, last.asked);
    if (answer.option === OPTION.allowSession) {
      this.#session.add(sessionKey(context.chat, command, input, last.asked));
    }
    // Nobody has agreed to more than was shown.
    grant(command, last.asked);
    return response(request, answer, last.asked);
  }

  #automatic(
    request: RequestPermissionRequest,
    decision: Decision,
    context: GateContext,
    access?: CommandAccess,
  ): RequestPermissionResponse {
    const denied = decision.verdict === "deny";
    const title = oneLine(request.toolCall.title ?? "a tool call");
    context.log.add({
      root: context.root,
      title,
      answer: denied ? "denied by rule" : "allowed by rule",
      rule: decision.rule,
      ...(access === undefined ? {} : { access }),
    });
    const meta = denied && "reason" in decision
      ? { reason: decision.reason, rule: decision.rule }
      : { rule: decision.rule, ...(access === undefined ? {} : { access }) };
    return outcomeOf(denied ? OPTION.reject : OPTION.allowOnce, request.options, meta);
  }

  /** Shows the request and waits for the user; undefined if the turn was stopped. */
  async #ask(
    { toolCall }: RequestPermissionRequest,
    context: GateContext,
    shown: Shown,
    edited?: (command: string) => Shown,
  ): Promise<UserAnswer | undefined> {
    const { chat, root } = context;
    const request = this.#nextRequest();
    const title = oneLine(toolCall.title ?? "a tool call");
    const waiting = this.#waiting.add(request, `chat ${chat}`);
    const update = (now: Shown): ApprovalUpdate => {
      const reason = oneLine(now.reason);
      const { suggestion, ...rest } = now;
      // A rule is edited on one line, as it is.
      const rule = suggestion !== undefined && isPlainLine(suggestion) ? { suggestion } : {};
      return { type: "approval", chat, request, tool: toolCall.toolCallId, title, ...rest, ...rule, reason };
    };
    this.#push(update(shown));
    if (edited !== undefined) {
      this.#edits.set(request, (command) => {
        this.#push({
          type: "approval_rejudged",
          chat,
          approval: update(orProblem(() => edited(command), shown)),
        });
      });
    }
    const answer = await waiting;
    this.#edits.delete(request);
    if (answer?.option === OPTION.allowAlways) await this.#always(answer, context);
    this.#push({ type: "approval_closed", chat, request, answer: answer?.option ?? "cancelled" });
    context.log.add({
      root,
      title: answer?.command ?? title,
      answer: answer?.option ?? "cancelled",
      rule: answer?.rule ?? "asked",
      ...(shown.access === undefined ? {} : { access: shown.access }),
    });
    return answer;
  }

  async #always(answer: UserAnswer, { rules, chat }: GateContext): Promise<void> {
    try {
      const added: string[] = [];
      // A line of several commands is allowed by several rules: by all of them, or by none if one is wrong.
      const texts = (answer.rule ?? "").split(/(?<=\))\s*,\s*(?=\w+\()/);
      for (const text of texts) parseRule(text, "allow", "project");
      for (const text of texts) added.push(ruleText(await rules.add(text, "allow", "project", chat)));
      this.#push({
        type: "notice",
        chat,
        severity: "info",
        text: `Always allowed in this project: ${added.join(", ")}`,
      });
    } catch (error) {
      const text = error instanceof Error ? error.message : String(error);
      this.#push({
        type: "notice",
        chat,
        severity: "warning",
        text: `Allowed only this once. ${oneLine(text)}`,
      });
    }
  }
}

/** What was shown before, with what is wrong as the reason. */
function orProblem(show: () => Shown, before: Shown): Shown {
  try {
    return show();
  } catch (error) {
    return { ...before, reason: error instanceof Error ? error.message : String(error) };
  }
}

/** @param access what an approved command may change */
function response(
  { options }: RequestPermissionRequest,
  { option, reason, command }: UserAnswer,
  access?: CommandAccess,
): RequestPermissionResponse {
  return outcomeOf(option, options, {
    ...(reason ? { reason } : {}),
    ...(command === undefined ? {} : { command }),
    ...(access === undefined ? {} : { access }),
  });
}

/** What the rules say of all files that a call touches: the strictest; undefined if they do not speak of all. */
function fileDecision(rules: readonly Rule[], meta: ApprovalMeta | undefined): Decision | undefined {
  const touches = meta?.touches ?? [];
  const found = touches.map(({ access, relative: path, named }) =>
    fileRule(rules, access, { path, relative: path, named, exists: true })
  );
  const strictest = found.find((rule) => rule?.verdict === "deny") ??
    found.find((rule) => rule?.verdict === "ask");
  if (strictest !== undefined) {
    const rule = ruleText(strictest);
    const reason = strictest.verdict === "deny" ? `denied by rule ${rule}` : `rule ${rule} asks`;
    return { verdict: strictest.verdict === "deny" ? "deny" : "ask", rule, reason };
  }
  // Reads need no rule to be allowed; they have passed the engine's own check.
  const writes = found.filter((_, index) => touches[index]?.access === "write");
  const allowing = writes.flatMap((rule) => rule === undefined ? [] : [ruleText(rule)]);
  return writes.length > 0 && allowing.length === writes.length
    ? { verdict: "allow", rule: [...new Set(allowing)].join(", ") }
    : undefined;
}

/** The smallest rule that would have answered: this one file. */
function suggestedFileRule(meta: ApprovalMeta | undefined): string | undefined {
  const writes = (meta?.touches ?? []).filter(({ access }) => access === "write");
  const [only] = writes;
  // Characters that mean something in a glob stand for themselves.
  return writes.length === 1 && only !== undefined
    ? `write(${only.named.replace(/[*?[\]{}()!\\]/g, "\\$&")})`
    : undefined;
}
