/** The engine as an ACP version 1 agent. Source: agentclientprotocol.com/protocol. */
import {
  agent,
  type AgentConnection,
  type AgentContext,
  type InitializeRequest,
  methods,
  RequestError,
  type RequestPermissionRequest,
  type Stream,
} from "../../deps/acp_sdk.ts";
import { z } from "../../deps/zod.ts";
import type { EngineConfig, ListedModel } from "../../protocol/config.ts";
import {
  AnswerMeta,
  type ApprovalMeta,
  InitializeMeta,
  META,
  method,
  OPTION,
  ours,
  PERMISSION_OPTIONS,
  SessionMeta,
} from "../../protocol/extensions.ts";
import { REQUEST_NAMES } from "../../protocol/requests.ts";
import type { ScreenResult } from "../../protocol/screen_requests.ts";
import { startTrace } from "../../protocol/trace.ts";
import { answerRequests, type Answers } from "./requests.ts";
import { checkpointAnswers, linkMaker } from "./checkpoints.ts";
import { acpCommands } from "./commands.ts";
import { fsEditor, noEditor, screenEditor, screenServers } from "./editor.ts";
import { handedOf } from "./handed.ts";
import { acpQuestions } from "./questions.ts";
import { reviewAnswers, type ReviewOptions } from "./review.ts";
import { modesOf, offerModels, serveModes } from "./modes.ts";
import { Moment } from "./moment.ts";
import { Screen } from "./screen.ts";
import { acpSearch } from "./search.ts";
import { sessionAnswers } from "./session_requests.ts";
import { AcpSessions, type Archive, serveSessions } from "./sessions.ts";
import { type Capabilities, diffContents, STOP_REASONS, UpdateSender } from "./updates.ts";
import { usageAnswers } from "./usage.ts";
import { earlierSession } from "../agent/gather/earlier.ts";
import { SessionAccess } from "../session/session_access.ts";
import type { Runner, TurnEnd } from "../agent/turn/runner.ts";
import { messageOf } from "../../shared/errors.ts";
import type { AgentEvent } from "../log/events.ts";
import type { ApprovalAnswer, ApprovalRequest, AskApproval, Editor, UsageLog } from "../ports.ts";
import { Session } from "../session/session.ts";
import type { ClientAbilities } from "../tools/define.ts";

/** After these the list of sessions says another thing. */
const LISTED: ReadonlySet<AgentEvent["type"]> = new Set([
  "user_message",
  "turn_done",
  "turn_failed",
  "title",
]);

interface AcpOptions {
  readonly review: Pick<ReviewOptions, "reviews" | "store">;
  /** Real paths of the only folders that this engine may touch, the project first. */
  readonly roots: readonly string[];
  readonly version: string;
  readonly usage: UsageLog;
  /** One line for the user about what is stored, which the next turn tells. */
  notice(): string | undefined;
  readonly archive: Archive;
  /** @param isBusy tells whether a turn runs in any session */
  onServing?(isBusy: () => boolean): void;
  /** For clients that send no configuration of their own. @throws {Error} one line. */
  ownConfig(): EngineConfig | undefined;
  /** What the provider lists. @throws {Error} one line */
  models(config: EngineConfig): Promise<readonly ListedModel[] | undefined>;
  /** @param abilities what the client does for tools @param renew asks it for a key that holds, if it gives any */
  runner(
    config: EngineConfig,
    abilities: Partial<ClientAbilities>,
    renew: ((refused: boolean, signal: AbortSignal) => Promise<ScreenResult<"provider_key">>) | undefined,
  ): Runner;
}

export function serveAcp(stream: Stream, options: AcpOptions): AgentConnection {
  let can: Capabilities = {
    extensions: new Set(),
    notices: false,
    readFiles: false,
    writeFiles: false,
    terminals: false,
    questions: false,
  };
  let config: EngineConfig | undefined;
  const open = new AcpSessions(options.archive, options.roots, (client, id, roots) => {
    const sender = new UpdateSender(client, id, can);
    const screen = new Screen(client, id, can.extensions);
    const moment = new Moment(screen);
    const ask = asker(client, id);
    const { list } = options.archive;
    if (screen.has("trace")) startTrace((spans) => screen.tell("trace", { spans }));
    const known = configOrError(config, options);
    const abilities: Partial<ClientAbilities> = {
      ...(can.terminals ? { commands: acpCommands(client, screen, id) } : {}),
      ...(can.questions ? { questions: acpQuestions(client, id) } : {}),
      ...(screen.has("search") ? { search: acpSearch(screen) } : {}),
      ...(screen.has("lsp") ? { languages: screenServers(screen, moment) } : {}),
    };
    const renew = screen.has("provider_key")
      ? (refused: boolean, signal: AbortSignal) => screen.ask("provider_key", { refused }, signal)
      : undefined;
    let early: string | undefined;
    const session = new Session(id, roots, {
      config: known,
      runner: options.runner(known, abilities, renew),
      store: options.archive.store,
      usage: options.usage,
      editor: editorOf(client, id, can),
      makeLink: linkMaker(screen),
      ask: (asked, signal) => list.whileWaiting(id, () => ask(asked, signal)),
      ...(screen.has("before_call") ? { fileRules: () => moment.rules() } : {}),
      surroundings: screen.has("surroundings")
        ? { ask: (wanted, signal) => screen.ask("surroundings", wanted, signal) }
        : {},
      commands: abilities.commands,
      given: { abilities, earlier: (word) => earlierSession(options.archive, id, word) },
      publish(event) {
        if (event.type !== "notice" || event.text !== early) sender.send(event);
        if (LISTED.has(event.type)) list.note();
      },
    });
    // After the answer: until then the client does not know whose notices these would be.
    setTimeout(() => {
      early = options.notice();
      if (early !== undefined) sender.send({ type: "notice", severity: "warning", text: early });
      session.prepare();
      session.checkpoints.recover().catch(() => {});
      // Our own client asks for the list itself, when it is to be seen.
      if (can.extensions.size === 0) offerModels(session.modes, options.models(known), sender);
    }, 0);
    return { session, sender };
  });

  options.onServing?.(() => open.isBusy);

  const app = agent({ name: "agent.nvim" })
    .onRequest(methods.agent.initialize, ({ params }) => {
      can = capabilitiesOf(params);
      config = ours(InitializeMeta, params._meta)?.config;
      const days = (config ?? ownConfigIfRight(options))?.keep_sessions_days;
      if (days !== undefined) open.expire(days).catch(() => {});
      open.expireScratch().catch(() => {});
      return {
        protocolVersion: 1,
        agentInfo: { name: "agent.nvim", version: options.version },
        agentCapabilities: {
          promptCapabilities: { embeddedContext: true, image: true },
          loadSession: true,
          sessionCapabilities: { list: {}, resume: {}, delete: {}, close: {}, additionalDirectories: {} },
          _meta: { [META]: { extensions: REQUEST_NAMES.map(method) } },
        },
        authMethods: [],
      };
    })
    .onRequest(methods.agent.session.new, async ({ params, client }) => {
      const { session } = await open.begin(client, params.cwd, params.additionalDirectories ?? []);
      return { sessionId: session.id, ...modesOf(session.modes) };
    })
    .onRequest(methods.agent.session.prompt, async ({ params }) => {
      const { branch, shown, messageId, ...instead } = ours(SessionMeta, params._meta) ?? {};
      const session = open.get(params.sessionId);
      const handed = params.prompt.map(handedOf);
      return promptAnswer(await session.prompt(handed, { branch, shown, instead, messageId }));
    })
    .onNotification(methods.agent.session.cancel, ({ params }) => open.cancel(params.sessionId));
  const answers: Answers = {
    ...sessionAnswers(options.archive, open, () => can, () => {
      const known = configOrError(config, options);
      const access = new SessionAccess(known, undefined, () => false);
      const mayTell = (path: string, relative: string) =>
        access.mayRead({ path, relative, named: relative, exists: true }).verdict === "allow";
      return { mayTell, key: known.provider?.api_key };
    }),
    ...usageAnswers(options.usage),
    modes({ modes }) {
      if (config !== undefined) config = { ...config, modes };
      open.ownModes = modes;
      return Promise.resolve({});
    },
    ...checkpointAnswers((id) => open.get(id)),
    ...reviewAnswers({
      ...options.review,
      roots: options.roots,
      editorOf: (client, id) => editorOf(client, id, can),
      can: () => can,
    }),
  };
  return answerRequests(serveModes(serveSessions(app, open, () => can), open), answers).connect(stream);
}

function capabilitiesOf({ clientCapabilities, _meta }: InitializeRequest): Capabilities {
  const offered = ours(InitializeMeta, _meta)?.extensions ??
    ours(z.object({ extensions: z.array(z.string()) }), clientCapabilities?._meta)?.extensions ?? [];
  return {
    extensions: new Set(offered),
    notices: Boolean(clientCapabilities?.session?.notices),
    readFiles: clientCapabilities?.fs?.readTextFile === true,
    writeFiles: clientCapabilities?.fs?.writeTextFile === true,
    terminals: clientCapabilities?.terminal === true,
    questions: Boolean(clientCapabilities?.elicitation?.form),
  };
}

function configOrError(sent: EngineConfig | undefined, options: AcpOptions): EngineConfig {
  try {
    const config = sent ?? options.ownConfig();
    if (config !== undefined) return config;
  } catch (error) {
    throw new RequestError(-32602, messageOf(error));
  }
  throw new RequestError(-32602, "No model is configured. Set AGENT_CONFIG to a JSON configuration.");
}

/** What is wrong with it is told when a session begins. */
function ownConfigIfRight(options: AcpOptions): EngineConfig | undefined {
  try {
    return options.ownConfig();
  } catch {
    return undefined;
  }
}

function editorOf(client: AgentContext, sessionId: string, can: Capabilities): Editor {
  const screen = new Screen(client, sessionId, can.extensions);
  if (screen.has("unsaved_text") && screen.has("write_unsaved")) return screenEditor(screen);
  return can.readFiles && can.writeFiles ? fsEditor(client, sessionId) : noEditor;
}

function asker(client: AgentContext, sessionId: string): AskApproval {
  return async (asked: ApprovalRequest, signal): Promise<ApprovalAnswer> => {
    const { call, diff, ...meta } = asked;
    const toolCall = {
      toolCallId: call.id,
      title: call.title,
      kind: call.kind,
      status: "pending" as const,
      locations: call.paths.map((path) => ({ path })),
      content: diffContents(diff),
      ...(meta.accesses.kind === "command" ? { rawInput: meta.accesses } : {}),
    };
    const params: RequestPermissionRequest = {
      sessionId,
      toolCall,
      options: [...PERMISSION_OPTIONS],
      _meta: { [META]: meta satisfies ApprovalMeta },
    };
    const cancellation = { cancellationSignal: signal, stopWaitingOnCancel: true };
    try {
      const { outcome } = await client.request(
        methods.client.session.requestPermission,
        params,
        cancellation,
      );
      if (outcome.outcome !== "selected") return { answer: "cancelled" };
      const { reason: said, rule, command: changed, access, rehearsed } = ours(AnswerMeta, outcome._meta) ??
        {};
      const byRule = rule === undefined ? {} : { rule };
      if (outcome.optionId === OPTION.allowOnce || outcome.optionId === OPTION.allowSession) {
        const answer = outcome.optionId === OPTION.allowOnce ? "allow_once" : "allow_session";
        const approved = {
          ...(changed === undefined ? {} : { command: changed }),
          ...(access === undefined ? {} : { access }),
          ...(rehearsed === undefined ? {} : { rehearsed }),
        };
        return { answer, ...byRule, ...approved };
      }
      return { answer: "reject", ...byRule, ...(said === undefined ? {} : { reason: said }) };
    } catch (error) {
      // Stopped by the user, or a client that cannot ask: nothing is run without a yes.
      return signal.aborted ? { answer: "cancelled" } : { answer: "reject", reason: messageOf(error) };
    }
  };
}

function promptAnswer(end: TurnEnd) {
  if (end.type === "stopped") return { stopReason: STOP_REASONS[end.reason] };
  throw new RequestError(-32603, end.error.message, { kind: end.error.kind });
}
