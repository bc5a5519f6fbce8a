/** The contents of an approval, by the kind of access. */
import { relative } from "node:path";
import type { RequestPermissionRequest } from "../../deps/acp_sdk.ts";
import type { CommandDecision } from "../../policy/decide_command.ts";
import type { AccessDecision, Circumstances } from "../../policy/decide.ts";
import type { Rule } from "../../policy/rules.ts";
import { nameInRoots } from "../../policy/roots.ts";
import type { SessionTrust } from "../../policy/session_permission.ts";
import type { Access, AccessOf } from "../../protocol/access.ts";
import { type Activation, levelOf } from "../../protocol/commands.ts";
import type { FileRules, UserConfig } from "../../protocol/config.ts";
import { covers, type ModeAccess, type TurnLimits } from "../../protocol/modes.ts";
import type { ApprovalSubject, ApprovalUpdate, EffectRow } from "../../protocol/ui.ts";
import type { CommandView } from "../commands/command_place.ts";
import type { EndedWork } from "../commands/terminals.ts";
import { diffsOf } from "../screen/tool_update.ts";
import { LONGEST_FOLDER, middleCut, oneLine, visible } from "../screen/visible.ts";
import { neovimEnvironment } from "../system/neovim_environment.ts";
import { defined, isRecord } from "../../shared/records.ts";
import type { ApprovalLog } from "./approval_log.ts";
import type { RuleBook } from "./rule_book.ts";

/** The user's choice for a session, and what it has read. */
export interface TrustedSession extends SessionTrust {
  /** The session uses the network. @param source with it, the session gets foreign text */
  taint(source?: SessionTrust["foreign"]): void;
}

/** The chat and the project of a request. */
export interface GateContext {
  readonly chat: number;
  /** The session's id; absent if the supervisor itself asks. */
  readonly session?: string | undefined;
  readonly trust: TrustedSession;
  /** Names of the call's tool, as the engine reports them. */
  readonly tools?: readonly string[] | undefined;
  /** The hook that has changed the call, and what the model asked for. */
  readonly changed?: string | undefined;
  /** The title of the sub-agent that asks. */
  readonly agent?: string | undefined;
  readonly root: string;
  readonly rules: RuleBook;
  readonly log: ApprovalLog;
  readonly commands: UserConfig["commands"];
  /** Rules that approve commands without a sandbox. */
  readonly unsandboxed?: readonly Rule[] | undefined;
  /** The limits of the turn's mode and message. */
  readonly limits: TurnLimits;
  /** The rules for files. */
  readonly files: FileRules;
  /** Real paths. */
  readonly roots: readonly string[];
  /** Whether commands can run over overlays. */
  readonly rehearses: boolean;
  /** Whether commands without network can reach single hosts. */
  readonly opensHosts?: boolean;
  /** A session's ended command or turn and its changes, by the id of its terminal. */
  ended(sessionId: string, terminal: string): EndedWork | undefined;
  /** The files that commands see; undefined without a sandbox. */
  readonly view: CommandView | undefined;
  /** Called when an approval waits for the user. Absent: nobody wants to know. */
  waits?(title: string): void;
  /** Whether the turn has ended since this context was requested. */
  isOver(): boolean;
}

/** An agent's request. */
export interface AccessRequest {
  readonly access: Access;
  /** One line. */
  readonly reason: string;
  /** The user must answer, regardless of rules. */
  readonly force: boolean;
  /** The answer is for this call alone. */
  readonly isSingle?: true | undefined;
  /** The sub-agent that asks: its title, and the access of its mode. */
  readonly agent?: { readonly title: string; readonly access: ModeAccess } | undefined;
  readonly tools?: readonly string[] | undefined;
  /** A hook has changed the call, one line. */
  readonly changed?: string | undefined;
}

/** A sub-agent is bound to its own mode if that is narrower than the session's. */
export function contextFor({ agent, tools, changed }: AccessRequest, context: GateContext): GateContext {
  if (agent === undefined) return { ...context, tools, changed };
  const { title, access } = agent;
  const { limits } = context;
  const narrower = covers(limits.access, access) ? { ...limits, access } : limits;
  return { ...context, tools, changed, agent: title, limits: narrower };
}

/** Characters of the hosts in an approval. */
const LONGEST_HOSTS = 200;

export type ApprovalView = ApprovalSubject & Pick<ApprovalUpdate, "reason" | "suggestion" | "scope">;

export function circumstancesOf(
  context: GateContext,
  reason: string,
): Circumstances {
  const { root, rules, chat, commands, unsandboxed, view, rehearses, trust, tools = [], files } = context;
  const { HOME: home } = neovimEnvironment();
  return {
    opensHosts: context.opensHosts === true,
    rules: rules.rules(chat),
    sandboxed: view !== undefined,
    commands,
    unsandboxed,
    rehearses,
    places: { root, ...defined({ home }) },
    hidesHistory: view?.tracked !== undefined,
    cannotHide: view === undefined || view.masks.complete ? undefined : view.masks.reason,
    permission: trust.permission,
    isTainted: trust.isTainted,
    foreign: trust.foreign,
    tools,
    files,
    reason,
  };
}

/**
 * A call that a hook has changed is not what the model asked for, which comes first. No rule is suggested for it: its
 * next call would be the unchanged one again. The user's own edit replaces both.
 */
export function withChange(view: ApprovalView, { changed }: Pick<GateContext, "changed">): ApprovalView {
  if (changed === undefined || (view.kind === "command" && view.is_edited === true)) return view;
  const { suggestion: _, ...rest } = view;
  return { ...rest, reason: `${changed}; ${view.reason}` };
}

/** Commands and their changes have their own functions. */
type PlainAccess = Exclude<Access, AccessOf<"command" | "effects">>;
type Content = RequestPermissionRequest["toolCall"]["content"];

export function shownAccess(
  { access, reason, isSingle }: AccessRequest & { readonly access: PlainAccess },
  { decision, suggestion }: AccessDecision,
  content: Content,
  { root }: Pick<GateContext, "root">,
): ApprovalView {
  return {
    ...subjectOf(access, content, root),
    reason: decision.verdict === "ask" ? decision.reason : reason,
    ...choices(isSingle, suggestion),
  };
}

function subjectOf(access: PlainAccess, content: Content, root: string): ApprovalSubject {
  switch (access.kind) {
    case "file":
    case "nothing":
      return { kind: "file", ...diffsOf(content, root) };
    case "fetch":
      return { kind: "other", detail: visible(access.url) };
    case "search_web":
      return { kind: "other", detail: `${oneLine(access.engine)} gets: ${visible(access.query)}` };
    case "mcp":
      return { kind: "other", detail: mcpDetail(access) };
    case "agent":
      return { kind: "other", detail: `${oneLine(access.name)}: ${visible(access.task)}` };
    case "foreign":
      return { kind: "other", detail: foreignDetail(access) };
    case "ask":
      return { kind: "other", about: access.about };
  }
}

function foreignDetail({ agent, tool, title, command, files = [] }: AccessOf<"foreign">): string {
  const names = files.map(({ access, path }) => `${access} ${visible(path.named)}`);
  return [`${oneLine(agent)}: ${oneLine(tool)}`, visible(command ?? title), ...names].join("\n");
}

/** All of the arguments: what is approved is what is sent. */
function mcpDetail({ server, tool, input }: AccessOf<"mcp">): string {
  const first = `${oneLine(tool)} of the server ${oneLine(server)}`;
  const fields = input === undefined ? [] : argumentLines(input);
  return [first, ...fields].join("\n");
}

function argumentLines(input: string): readonly string[] {
  let fields: unknown;
  try {
    fields = JSON.parse(input);
  } catch {
    fields = undefined;
  }
  if (!isRecord(fields)) return [visible(input)];
  return Object.entries(fields).map(([name, value]) =>
    visible(`${name}: ${typeof value === "string" ? value : JSON.stringify(value)}`)
  );
}

/** @param edited whether the user has edited the command */
export function shownCommand(
  { access: { command, cwd, access, activation }, reason, force, isSingle }: AccessRequest & {
    readonly access: AccessOf<"command">;
  },
  { decision, verdict, requestedAccess, hosts, suggestion }: CommandDecision,
  edited: boolean,
  { root, roots, view }: GateContext,
): ApprovalView {
  const asks = decision.verdict !== "allow" && (!force || edited);
  // The engine's reason is about the command before the edit.
  const why = asks ? decision.reason : force && !edited ? reason : verdict.reason;
  // A line that seems read-only requests more.
  const isRaised = access === undefined && levelOf(verdict.access) !== levelOf(requestedAccess);
  const note = isRaised && view?.tracked !== undefined
    ? [`git's history contains ${visible(view.tracked)}, which must not be read`]
    : [];
  return {
    kind: "command",
    reason: [why, ...note].join("; "),
    command: visible(command),
    folder: middleCut(relative(root, cwd) || ".", LONGEST_FOLDER),
    ...(view === undefined ? {} : { access: requestedAccess }),
    ...(hosts.length === 0 ? {} : { hosts: hostsText(hosts) }),
    severity: verdict.severity,
    is_edited: edited,
    ...choices(isSingle, suggestion),
    ...defined({ activation: shownActivation(activation, roots) }),
  };
}

/** How long an answer can hold. */
function choices(
  isSingle: true | undefined,
  suggestion: string | undefined,
): Pick<ApprovalView, "scope" | "suggestion"> {
  return isSingle === true ? { scope: "request" } : defined({ suggestion });
}

function hostsText(hosts: readonly string[]): string {
  const texts = hosts.map((pattern) => pattern.startsWith("!") ? `not ${pattern.slice(1)}` : pattern);
  return middleCut(oneLine(texts.join(", ")), LONGEST_HOSTS);
}

export function shownEffects(
  work: EndedWork,
  effects: readonly EffectRow[],
  reason: string,
  suggestion: string | undefined,
  { root, roots }: GateContext,
): ApprovalView {
  const { end } = work;
  if ("agent" in work) {
    return {
      kind: "effects",
      reason,
      command: `changes of ${oneLine(work.agent)}`,
      folder: ".",
      end,
      effects,
      scope: "request",
    };
  }
  const { command, cwd, activation } = work.input;
  return {
    kind: "effects",
    reason,
    command: visible(command),
    folder: middleCut(relative(root, cwd) || ".", LONGEST_FOLDER),
    end,
    effects,
    ...defined({ suggestion, activation: shownActivation(activation, roots) }),
  };
}

/** The folders of an activation, on one line. The first folders of PATH are those whose programs win. */
function shownActivation(
  activation: Activation | undefined,
  roots: readonly string[],
): string | undefined {
  if (activation === undefined) return undefined;
  const { virtualEnv, before, after } = activation;
  const nameOf = (path: string) => middleCut(oneLine(nameInRoots(path, roots) || "."), LONGEST_FOLDER);
  const listed = (which: string, folders: readonly string[]) =>
    folders.length === 0 ? [] : [`PATH ${which} ${folders.map(nameOf).join(":")}`];
  return [
    ...listed("starts with", before),
    ...listed("ends with", after),
    ...virtualEnv === undefined ? [] : [`VIRTUAL_ENV is ${nameOf(virtualEnv)}`],
  ].join(", ");
}
