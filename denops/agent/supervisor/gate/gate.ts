/**
 * The gate: judges an engine's requests again, by the current rules, right before they take effect. An
 * approval of a command is bound to exactly that command, and running it uses the approval up.
 */
import type { EndedCommand, Grant } from "../commands/terminals.ts";
import type { RequestPermissionRequest, RequestPermissionResponse } from "../../deps/acp_sdk.ts";
import { type Circumstances, decide, UNKNOWN } from "../../policy/decide.ts";
import type { CommandDecision } from "../../policy/decide_command.ts";
import { againstMode } from "../../policy/decide_mode.ts";
import type { FileDecision } from "../../policy/file_access.ts";
import { foreignSource } from "../../policy/foreign.ts";
import type { Access, AccessOf } from "../../protocol/access.ts";
import { type ApprovedCommand, commandKey, hasNetwork, type TerminalMeta } from "../../protocol/commands.ts";
import { ApprovalMeta, OPTION, ours } from "../../protocol/extensions.ts";
import type { LspServer } from "../../protocol/lsp.ts";
import type { ApprovalUpdate, Update } from "../../protocol/ui.ts";
import { ApprovedAccess } from "./approved_access.ts";
import { approvedReach, type CommandReach, reachMeta, requestedReach, withinMode } from "./command_reach.ts";
import { EffectsReview } from "./effects.ts";
import { type ApprovalChoice, CANCELLED, outcomeOf } from "./outcome.ts";
import {
  type AccessRequest,
  type ApprovalView,
  circumstancesOf,
  contextFor,
  type GateContext,
  shownAccess,
  shownCommand,
  shownEffects,
  withChange,
} from "./approval_view.ts";
import { addRules, problemOf } from "./rule_input.ts";
import { isPlainLine, oneLine, shownId } from "../screen/visible.ts";
import { Waiting } from "../screen/waiting.ts";

export type { GateContext } from "./approval_view.ts";

/** The user's answer; undefined if the turn was stopped. */
interface UserAnswer {
  readonly option: ApprovalChoice;
  readonly reason?: string | undefined;
  readonly rule?: string | undefined;
  readonly command?: string | undefined;
  /** Rows of a command's effects to keep; by default each row's own state decides. */
  readonly kept?: readonly number[] | undefined;
}

/** A question to the user. */
interface Question {
  readonly toolCall: RequestPermissionRequest["toolCall"];
  readonly access: Access;
  readonly view: ApprovalView;
  /** No rule could answer it, whatever the session has read. */
  readonly isForced: boolean;
}

export class Gate {
  readonly #push: (update: Update) => void;
  readonly #nextRequest: () => number;
  readonly #waiting = new Waiting<UserAnswer | undefined>();
  /** Waiting commands: each function shows an edited command. */
  readonly #edits = new Map<number, (command: string) => void>();
  /** Approved commands that have not run yet. */
  readonly #granted = new Map<string, Grant & { readonly chat: number }>();
  /** Command lines that the user allowed for a chat's session. */
  readonly #session = new Set<string>();
  readonly approved = new ApprovedAccess();
  /** Number of turns that have ended, by chat. */
  readonly #ends = new Map<number, number>();

  constructor(push: (update: Update) => void, nextRequest: () => number) {
    this.#push = push;
    this.#nextRequest = nextRequest;
  }

  /** False if no request of this number waits. */
  answer(request: number, answer: UserAnswer): boolean {
    return this.#waiting.settle(request, answer);
  }

  /** The user edits the command of a waiting request. This approves nothing. */
  edit(request: number, command: string): void {
    this.#edits.get(request)?.(command);
  }

  /** A chat's turn is over: cancels its requests and drops its approvals. */
  settle(chat: number): void {
    this.#ends.set(chat, this.ends(chat) + 1);
    this.#waiting.settleAll(`chat ${chat}`, undefined);
    this.approved.settle(chat);
    for (const [key, grant] of this.#granted) {
      if (grant.chat === chat) this.#granted.delete(key);
    }
  }

  /** Number of turns of a chat that have ended. */
  ends(chat: number): number {
    return this.#ends.get(chat) ?? 0;
  }

  /** Answers an engine's permission request. */
  async permission(
    request: RequestPermissionRequest,
    base: GateContext,
  ): Promise<RequestPermissionResponse> {
    if (base.isOver()) return CANCELLED;
    const accessRequest = askedIn(request);
    if (accessRequest === undefined) return this.#automatic(request, UNKNOWN, { kind: "nothing" }, base);
    const context = contextFor(accessRequest, base);
    const { access, reason, force } = accessRequest;
    const { toolCall } = request;
    const against = againstMode(access, context.limits);
    if (against !== undefined) return this.#automatic(request, against, access, context);
    if (access.kind === "command") return await this.#command(request, { ...accessRequest, access }, context);
    if (access.kind === "effects") return await this.#effects(request, { ...accessRequest, access }, context);
    const judgement = decide(access, circumstancesOf(context, reason));
    const { decision } = judgement;
    if (decision.verdict === "deny" || (decision.verdict === "allow" && !force)) {
      return this.#automatic(request, decision, access, context);
    }
    const view = shownAccess({ ...accessRequest, access }, judgement, toolCall.content, context);
    const answer = await this.#ask({ toolCall, access, view, isForced: force }, context);
    if (answer === undefined) return CANCELLED;
    if (answer.option !== OPTION.reject) {
      noteRemote(access, context);
      this.approved.add(context.chat, context.session, access);
    }
    return response(answer);
  }

  /**
   * The grant of an approved command, once, for exactly the same command. The policy decides again: a command
   * that a rule allows needs no approval, any other one does.
   */
  spend(sessionId: string, input: TerminalMeta): Grant | undefined {
    const key = commandKey(sessionId, input.toolCallId, input);
    const grant = this.#granted.get(key);
    this.#granted.delete(key);
    return grant;
  }

  /** Whether a language server may start; undefined if the turn was stopped. */
  async startServer({ name, command }: LspServer, context: GateContext): Promise<boolean | undefined> {
    const title = `start the language server ${name}: ${command}`;
    const view = { kind: "other", reason: "runs outside the sandbox and runs this project's code" } as const;
    return await this.#confirm("server", title, view, context);
  }

  /**
   * A question of the supervisor that no rule answers, and whose answer it stores.
   * @param detail lines below the title @returns undefined if the turn was stopped
   */
  async confirm(
    title: string,
    reason: string,
    context: GateContext,
    detail?: string,
  ): Promise<boolean | undefined> {
    return await this.#confirm(
      "trust",
      title,
      { kind: "other", reason, scope: "stored", ...(detail === undefined ? {} : { detail }) },
      context,
    );
  }

  async #confirm(
    about: AccessOf<"ask">["about"],
    title: string,
    view: ApprovalView,
    context: GateContext,
  ): Promise<boolean | undefined> {
    const access = { kind: "ask", about, text: title } as const;
    const answer = await this.#ask(
      { toolCall: { toolCallId: "", title }, access, view, isForced: true },
      context,
    );
    return answer && answer.option !== OPTION.reject;
  }

  /** Whether the supervisor may write a file outside of all projects. */
  async ownWrite(
    { path, before, after }: {
      readonly path: string;
      readonly before: string | undefined;
      readonly after: string;
    },
    context: GateContext,
  ): Promise<boolean> {
    const title = `write ${path}`;
    const content = [{ type: "diff" as const, path, oldText: before ?? null, newText: after }];
    const file = { path, link: path, relative: path, named: path, exists: before !== undefined };
    const access = { kind: "file", files: [{ access: "write", path: file }] } as const satisfies Access;
    const reason = "it is for all projects";
    const judgement = {
      decision: { verdict: "ask", rule: "asked", reason },
      always: true,
      suggestion: undefined,
    } as const;
    const view = shownAccess({ access, reason, force: true }, judgement, content, context);
    const answer = await this.#ask(
      { toolCall: { toolCallId: "", title }, access, view, isForced: true },
      context,
    );
    return answer !== undefined && answer.option !== OPTION.reject;
  }

  async #command(
    request: RequestPermissionRequest,
    accessRequest: AccessRequest & { readonly access: AccessOf<"command"> },
    context: GateContext,
  ): Promise<RequestPermissionResponse> {
    const { sessionId, toolCall } = request;
    const { access: input, reason, force } = accessRequest;
    const judge = (command: string) => this.#judge({ ...input, command }, reason, context);
    const at = (command: string, { access, hosts }: CommandReach) => ({
      ...input,
      command,
      access,
      hosts: hosts.length === 0 ? undefined : hosts,
    });
    const grant = (command: string, reach: CommandReach, word: GrantWord) => {
      const key = commandKey(sessionId, toolCall.toolCallId, { ...at(command, reach), ...reach });
      this.#grant(key, reach, word, context);
    };
    const judgement = judge(input.command);
    const { decision, always, rehearsed, agreed } = judgement;
    const requested = requestedReach(judgement);
    const wasAllowed = this.#session.has(
      sessionKey(context.chat, { ...at(input.command, requested), rehearsed }),
    );
    const answeredBy = (decision: FileDecision, reach: CommandReach) => {
      const word = { agreed: agreed || wasAllowed, byUser: false };
      if (decision.verdict === "allow") grant(input.command, reach, word);
      return this.#automatic(request, decision, at(input.command, reach), context, rehearsed);
    };
    if (decision.verdict === "deny") return answeredBy(decision, requested);
    if (decision.verdict === "allow" && !force) return answeredBy(decision, judgement);
    if (wasAllowed && !always && !force) {
      return answeredBy({ verdict: "allow", rule: "allowed for this session" }, requested);
    }
    let view = { command: input.command, judgement };
    const viewOf = (command: string) => {
      view = { command, judgement: judge(command) };
      const access = { ...input, command };
      return shownCommand({ ...accessRequest, access }, view.judgement, command !== input.command, context);
    };
    const first = shownCommand(accessRequest, judgement, false, context);
    const question = { toolCall, access: at(input.command, requested), view: first, isForced: force };
    const answer = await this.#ask(question, context, viewOf);
    if (answer === undefined) return CANCELLED;
    if (answer.option === OPTION.reject) return response(answer);
    // The latest version on screen runs, and the rules may have changed since it was shown.
    const command = answer.command ?? input.command;
    const last = judge(command);
    if (last.decision.verdict === "deny") {
      return this.#automatic(request, last.decision, at(command, requestedReach(last)), context);
    }
    const isAsShown = view.command === command && answer.option !== OPTION.allowAlways;
    const reach = isAsShown ? approvedReach(view.judgement, last) : requestedReach(last);
    if (answer.option === OPTION.allowSession) {
      this.#session.add(sessionKey(context.chat, { ...at(command, reach), rehearsed: reach.rehearsed }));
    }
    // The approval covers only what was shown.
    grant(command, reach, { agreed: true, byUser: true });
    return response(answer, reach);
  }

  #grant(key: string, { access, hosts }: CommandReach, word: GrantWord, { chat, trust, view }: GateContext) {
    if (hasNetwork(access) || hosts.length > 0) trust.taint();
    const isMasked = view?.masks.complete !== false;
    this.#granted.set(key, { chat, isMasked, ...word, ...hosts.length === 0 ? {} : { hosts } });
  }

  /** The judgement of a line. One that the user allowed for the session with the whole network keeps it. */
  #judge(access: AccessOf<"command">, reason: string, context: GateContext): CommandDecision {
    const circumstances = circumstancesOf(context, reason);
    const judgeWith = (more: Partial<Circumstances>) =>
      withinMode(decide(access, { ...circumstances, ...more }), access, context);
    const judgement = judgeWith({});
    // Where that would ask again, the user decides on the hosts alone.
    if (judgement.hosts.length === 0 || context.trust.foreign !== undefined) return judgement;
    const whole = judgeWith({ opensHosts: false });
    const { requestedAccess, rehearsed } = whole;
    const line = { ...access, access: requestedAccess, rehearsed, hosts: undefined };
    return this.#session.has(sessionKey(context.chat, line)) ? whole : judgement;
  }

  /** The user approves the list of changes that was made when the command ended. */
  async #effects(
    request: RequestPermissionRequest,
    { access, force }: AccessRequest & { readonly access: AccessOf<"effects"> },
    context: GateContext,
  ): Promise<RequestPermissionResponse> {
    const { sessionId, toolCall } = request;
    const ended = context.ended(sessionId, access.terminal);
    if (ended === undefined) return this.#automatic(request, UNKNOWN, access, context);
    const rules = { rules: context.rules.rules(context.chat), safe_to_write: context.files.safe_to_write };
    const effects = new EffectsReview(ended, context.roots, rules, context.trust);
    const decision = effects.decide(context.commands);
    if (decision.verdict !== "ask" && !force) {
      effects.keep();
      return this.#automatic(request, decision, access, context);
    }
    const reason = decision.verdict === "ask" ? decision.reason : "";
    const suggestion = "input" in ended ? suggestionFor(ended, reason, context) : undefined;
    const rule = effects.isRisky ? undefined : suggestion;
    const view = shownEffects(ended, effects.rows(), reason, rule, context);
    // No rule keeps sensitive changes.
    const isForced = force || decision.rule !== "asked";
    const answer = await this.#ask({ toolCall, access, view, isForced }, context);
    if (answer === undefined) return CANCELLED;
    if (answer.option !== OPTION.reject) effects.keep(answer.kept);
    if (answer.option === OPTION.allowSession && "input" in ended) {
      this.#session.add(sessionKey(context.chat, { ...ended.input, hosts: ended.grant.hosts }));
    }
    return response(answer);
  }

  #automatic(
    request: RequestPermissionRequest,
    decision: FileDecision,
    access: Access,
    context: GateContext,
    rehearsed = false,
  ): RequestPermissionResponse {
    const { rule } = decision;
    const denied = decision.verdict !== "allow";
    const title = oneLine(request.toolCall.title ?? NAMELESS);
    const answer = denied ? "denied by rule" : "allowed by rule";
    this.#log({ title, answer, rule, accesses: access }, request.toolCall, context);
    if (!denied) {
      noteRemote(access, context);
      this.approved.add(context.chat, context.session, access);
    }
    if (denied) {
      const { chat } = context;
      this.#push({ type: "denied", chat, title, reason: oneLine(decision.reason) });
      return outcomeOf(OPTION.reject, { reason: decision.reason, rule });
    }
    const reach = access.kind === "command" && access.access !== undefined
      ? reachMeta({ access: access.access, hosts: access.hosts ?? [], rehearsed })
      : {};
    return outcomeOf(OPTION.allowOnce, { rule, ...reach });
  }

  /** Shows the request and waits for the user; undefined if the turn was stopped. */
  async #ask(
    question: Question,
    context: GateContext,
    edited?: (command: string) => ApprovalView,
  ): Promise<UserAnswer | undefined> {
    const { chat } = context;
    const { toolCall, access, view } = question;
    // Nobody would close an approval of a turn that is over.
    if (context.isOver()) return undefined;
    const agent = context.agent === undefined ? {} : { agent: oneLine(context.agent) };
    const request = this.#nextRequest();
    const title = oneLine(toolCall.title ?? NAMELESS);
    const waiting = this.#waiting.add(request, `chat ${chat}`);
    const update = (current: ApprovalView): ApprovalUpdate => {
      const { suggestion, ...now } = withChange(current, context);
      // A rule is edited as text on one line.
      const rule = suggestion !== undefined && isPlainLine(suggestion) ? { suggestion } : {};
      const call = { type: "approval", chat, request, tool: toolCall.toolCallId, title } as const;
      return { ...now, ...rule, ...agent, ...call, reason: oneLine(now.reason) };
    };
    this.#push(update(view));
    context.waits?.(title);
    if (edited !== undefined) {
      this.#edits.set(request, (command) => {
        this.#push({
          type: "approval_rejudged",
          chat,
          approval: update(orProblem(() => edited(command), view)),
        });
      });
    }
    let answer = within(await waiting, view);
    this.#edits.delete(request);
    const { command } = answer ?? {};
    const isAlways = answer?.option === OPTION.allowAlways;
    const problem = isAlways ? problemOf(answer?.rule) : undefined;
    if (problem !== undefined) {
      this.#push({ type: "approval_closed", chat, request, answer: "cancelled" });
      this.#push({ type: "notice", chat, severity: "warning", text: problem });
      const now = command === undefined || edited === undefined
        ? view
        : orProblem(() => edited(command), view);
      // Nothing is awaited before it waits again, so the end of the turn cannot miss it.
      return await this.#ask({ ...question, view: now }, context, edited);
    }
    if (answer !== undefined && isAlways && !await addRules(answer.rule, access, context, this.#push)) {
      const { rule: _, ...once } = answer;
      answer = { ...once, option: OPTION.allowOnce };
    }
    const outcome = answer?.option ?? "cancelled";
    this.#push({ type: "approval_closed", chat, request, answer: outcome });
    const facts = questionFacts(question, context.trust);
    this.#log({ ...entryOf(answer, title, access), question: facts }, toolCall, context);
    return answer;
  }

  /** Logs an answer, and shows it with its call. */
  #log(
    entry: Omit<Parameters<GateContext["log"]["add"]>[0], "root" | "session" | "call">,
    { toolCallId }: RequestPermissionRequest["toolCall"],
    { root, session, chat, log, tools }: GateContext,
  ): void {
    const call = shownId(toolCallId);
    const approval = log.add({ ...entry, root, session, call, tools: tools?.slice() });
    if (approval !== undefined && call !== "") {
      this.#push({ type: "tool", chat, id: call, approvals: [approval] });
    }
  }
}

/** An answer for the session, where that is not offered, is for this request. */
function within(answer: UserAnswer | undefined, { scope }: ApprovalView): UserAnswer | undefined {
  const isOfSession = answer?.option === OPTION.allowSession;
  return scope === "request" && isOfSession ? { ...answer, option: OPTION.allowOnce } : answer;
}

/** @param answer undefined: the turn was stopped */
function entryOf(answer: UserAnswer | undefined, title: string, access: Access) {
  const { command, rule = "asked" } = answer ?? {};
  return {
    title,
    answer: answer?.option ?? "cancelled",
    rule,
    accesses: access.kind === "command" && command !== undefined ? { ...access, command } : access,
    ...(command === undefined ? {} : { edited: true }),
  };
}

/** For the log. */
function questionFacts({ isForced }: Question, { permission, foreign, isTainted }: GateContext["trust"]) {
  const taint = foreign !== undefined ? "foreign" : isTainted ? "network" : "none";
  return { forced: isForced || permission === "ask", taint } as const;
}

/** Commands with the network are noted with their grant. */
function noteRemote(access: Access, { trust }: GateContext): void {
  const source = foreignSource(access);
  if (source !== undefined) trust.taint(source);
}

const NAMELESS = "a tool call";

type GrantWord = Pick<Grant, "agreed" | "byUser">;

/** The rule that would have allowed the command. */
function suggestionFor({ input }: EndedCommand, reason: string, context: GateContext): string | undefined {
  const asking: Circumstances = { ...circumstancesOf(context, reason), commands: "ask" };
  return decide({ kind: "command", ...input }, asking).suggestion;
}

/** Undefined for an unknown kind of access. */
function askedIn({ _meta }: RequestPermissionRequest): AccessRequest | undefined {
  return ours(ApprovalMeta, _meta);
}

/**
 * The scope of "for this session": this line, in this folder, with this access, these hosts and these variables; with
 * direct writes only if they were approved.
 */
function sessionKey(
  chat: number,
  { command, cwd, access, rehearsed, hosts, activation }: ApprovedCommand,
): string {
  return JSON.stringify([chat, command, cwd, access, rehearsed, hosts, activation]);
}

/** The previous view, with the problem as the reason. */
function orProblem(show: () => ApprovalView, before: ApprovalView): ApprovalView {
  try {
    return show();
  } catch (error) {
    return { ...before, reason: error instanceof Error ? error.message : String(error) };
  }
}

/** @param reach of a command */
function response(
  { option, reason, rule, command }: UserAnswer,
  reach?: CommandReach,
): RequestPermissionResponse {
  return outcomeOf(option, {
    ...(reason ? { reason } : {}),
    ...(option === OPTION.reject && rule !== undefined ? { rule } : {}),
    ...(command === undefined ? {} : { command }),
    ...(reach === undefined ? {} : reachMeta(reach)),
  });
}
