/** The permissions of one tool call: the policy decides, or the user. */
import { allowKey } from "../../../policy/decide_files.ts";
import type { FileDecision } from "../../../policy/file_access.ts";
import type { Access, AccessPath } from "../../../protocol/access.ts";
import { trace } from "../../../protocol/trace.ts";
import { ToolError } from "../../../shared/errors.ts";
import { defined } from "../../../shared/records.ts";
import type { Emit, ToolStart } from "../../log/events.ts";
import type { ApprovalAnswer, AskApproval } from "../../ports/approvals.ts";
import { type ApprovedChanges, files, NOTHING, type PreparedCall } from "../../tools/define.ts";

export interface PermissionPorts {
  readonly emit: Emit;
  readonly ask: AskApproval;
  /**
   * @param granted keys of what the user allowed for this call only
   * @param tools names of the call's tool, current and old
   */
  decide(access: Access, granted: ReadonlySet<string>, tools: readonly string[]): FileDecision;
  allowForSession(access: Access): void;
}

/** The user must answer; no rule may. */
export interface ForcedQuestion {
  /** The name of the asking rule, for the log. */
  readonly rule: string;
  readonly reason: string;
  /** It comes again with each such call, so that an answer is for this one alone. */
  readonly isSingle?: true;
}

export interface GrantedPermission {
  readonly refusal?: undefined;
  readonly rule: string;
  /** The user saw and approved exactly this call; no rule decided. */
  readonly byUser: boolean;
  readonly approved: ApprovedChanges;
}

type Permission = GrantedPermission | { readonly refusal: ToolError };

export class Permissions {
  readonly #ports: PermissionPorts;
  readonly #describe: (access: Access, command?: string) => ToolStart;
  readonly #signal: AbortSignal;
  readonly #tools: readonly string[];
  /** Files that the user let this call read. */
  readonly #granted = new Set<string>();
  #start: ToolStart | undefined;
  #order: Promise<unknown> = Promise.resolve();

  /**
   * @param describe gets the command, if the user has edited it
   * @param tools names of the call's tool, current and old
   */
  constructor(
    ports: PermissionPorts,
    describe: (access: Access, command?: string) => ToolStart,
    signal: AbortSignal,
    tools: readonly string[] = [],
  ) {
    this.#ports = ports;
    this.#describe = describe;
    this.#signal = signal;
    this.#tools = tools;
  }

  /** Shows the call once: before its first question, or when its access is known. */
  start(access: Access = NOTHING): ToolStart {
    if (this.#start === undefined) {
      this.#start = this.#describe(access);
      this.#ports.emit({ type: "tool_start", call: this.#start });
    }
    return this.#start;
  }

  /** Asks whether this call may read a file; questions wait for one another. @throws {ToolError} if it may not */
  async read(path: AccessPath, reason: string): Promise<void> {
    const pending = this.#order.then(() => this.#read(path, reason));
    this.#order = pending.catch(() => {});
    await pending;
  }

  async #read(path: AccessPath, reason: string): Promise<void> {
    const key = allowKey({ access: "read", path });
    if (this.#granted.has(key)) return;
    const answer = await this.ask({ access: files(["read", path]) }, reason, false);
    const refusal = refusalOf(answer);
    if (refusal !== undefined) throw refusal;
    this.#granted.add(key);
  }

  async decide(prepared: PreparedCall, forced?: ForcedQuestion): Promise<Permission> {
    const start = this.start(prepared.access);
    const since = trace?.now();
    const policyDecision = this.#ports.decide(prepared.access, this.#granted, this.#tools);
    trace?.span("decide", since, start.id);
    const decision: FileDecision = forced !== undefined && policyDecision.verdict !== "deny"
      ? { verdict: "ask", rule: forced.rule, reason: forced.reason }
      : policyDecision;
    if (decision.verdict === "ask") {
      const answer = await this.ask(prepared, decision.reason, forced !== undefined, forced?.isSingle);
      const refusal = refusalOf(answer);
      if (refusal !== undefined) return { refusal };
      const rule = ruleOf(answer);
      return { rule: rule ?? "asked", byUser: rule === undefined, approved: approvedBy(answer) };
    }
    const denied = decision.verdict === "deny";
    this.#ports.emit({
      type: "approval_answered",
      id: start.id,
      answer: denied ? "denied by rule" : "allowed by rule",
      rule: decision.rule,
    });
    if (denied) return { refusal: notAllowed(decision.reason) };
    return { rule: decision.rule, byUser: false, approved: {} };
  }

  /**
   * @param force the user must answer; no rule may
   * @param isSingle the answer is for this call alone
   */
  async ask(
    { access, diff }: Pick<PreparedCall, "access" | "diff">,
    reason: string,
    force: boolean,
    isSingle?: true,
  ): Promise<ApprovalAnswer> {
    const call = this.start(access);
    this.#ports.emit({ type: "approval_requested", id: call.id, reason });
    const since = trace?.now();
    const answer = await this.#ports.ask({
      call,
      reason,
      force,
      access,
      ...(diff === undefined ? {} : { diff }),
      ...(this.#tools.length === 0 ? {} : { tools: this.#tools }),
      ...defined({ isSingle }),
    }, this.#signal);
    trace?.span("wait", since, call.id);
    const title = this.#edited(access, answer);
    this.#ports.emit({
      type: "approval_answered",
      id: call.id,
      answer: answer.answer,
      rule: ruleOf(answer) ?? "asked",
      ...defined({ title }),
    });
    if (answer.answer === "allow_session") this.#ports.allowForSession(access);
    return answer;
  }

  /** The call's title from now on, if the user has edited its command. */
  #edited(access: Access, answer: ApprovalAnswer): string | undefined {
    const { command } = approvedBy(answer);
    if (command === undefined) return undefined;
    this.#start = this.#describe(access, command);
    return this.#start.title;
  }
}

function approvedBy(answer: ApprovalAnswer): ApprovedChanges {
  if (answer.answer !== "allow_once" && answer.answer !== "allow_session") return {};
  const { command, access, rehearsed, hosts } = answer;
  return defined({ command, access, rehearsed, hosts });
}

export function ruleOf(answer: ApprovalAnswer): string | undefined {
  return "rule" in answer ? answer.rule : undefined;
}

/** Undefined if the user allowed it. */
function refusalOf(answer: ApprovalAnswer): ToolError | undefined {
  if (answer.answer === "cancelled") return new ToolError("Cancelled by the user.", "stopped");
  if (answer.answer !== "reject") return undefined;
  const { reason, rule } = answer;
  if (rule !== undefined) return notAllowed(reason ?? rule);
  return reason === undefined
    ? new ToolError(
      "The user rejected this. Do not try it again; ask what to do instead, or go on without it.",
      "rejected by you",
    )
    : new ToolError(`The user rejected this: ${reason}`, `rejected by you: ${reason}`);
}

function notAllowed(reason: string): ToolError {
  return new ToolError(`Not allowed: ${reason}.`, `not allowed: ${reason}`);
}
