/** The engine as an ACP version 1 agent. Source: agentclientprotocol.com/protocol. */
import { agent, type AgentConnection, methods, RequestError, type Stream } from "../../deps/acp_sdk.ts";
import type { EngineConfig } from "../../protocol/config.ts";
import { META, method, ours, SessionMeta, type TurnEndMeta } from "../../protocol/extensions.ts";
import { REQUEST_NAMES } from "../../protocol/requests.ts";
import type { TurnEnd } from "../agent/turn/runner.ts";
import { SessionAccess } from "../session/session_access.ts";
import { checkpointAnswers } from "./checkpoints.ts";
import { ConnectedClient } from "./connected_client.ts";
import { promptPart } from "./prompt_parts.ts";
import { AcpMcp } from "./pipes/mcp.ts";
import { modesOf, serveModes } from "./modes.ts";
import { openSession, type SessionOptions } from "./open_session.ts";
import type { Withheld } from "./export/recording.ts";
import { answerRequests, type Answers } from "./requests.ts";
import { reviewAnswers, type ReviewOptions } from "./review.ts";
import { openSessionAnswers, storedSessionAnswers } from "./session_requests.ts";
import { AcpSessions, serveSessions } from "./sessions.ts";
import { STOP_REASONS } from "./updates.ts";
import { usageAnswers } from "./usage.ts";

interface AcpOptions extends SessionOptions {
  readonly review: Pick<ReviewOptions, "reviews" | "store">;
  /** Real paths of the only folders that this engine can access, the project first. */
  readonly roots: readonly string[];
  readonly version: string;
  /** @param isBusy whether a turn runs in any session */
  onServing?(isBusy: () => boolean): void;
  /** The configuration for clients that send none. @throws {Error} one line */
  ownConfig(): EngineConfig | undefined;
}

export function serveAcp(stream: Stream, options: AcpOptions): AgentConnection {
  const connected = new ConnectedClient(options.ownConfig);
  const mcp = new AcpMcp(options.roots, connected);
  const open = new AcpSessions(
    options.archive,
    options.roots,
    (client, id, roots) => openSession({ ...options, mcp }, connected, client, { id, roots }),
  );
  options.onServing?.(() => open.isBusy);

  const app = agent({ name: "agent.nvim" })
    .onRequest(methods.agent.initialize, ({ params }) => {
      connected.initialize(params);
      if (connected.keepDays !== undefined) open.expire(connected.keepDays).catch(() => {});
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
      const { branch, shown: view, messageId, pages, ...others } = ours(SessionMeta, params._meta) ?? {};
      const instead = Object.keys(others).length === 0 ? undefined : others;
      const session = open.get(params.sessionId);
      const prompt = params.prompt.map(promptPart);
      return promptAnswer(await session.prompt(prompt, { branch, view, instead, messageId, pages }));
    })
    .onNotification(methods.agent.session.cancel, ({ params }) => open.cancel(params.sessionId));
  const can = () => connected.can;
  const served = serveModes(serveSessions(app, open, can), open);
  return answerRequests(served, { ...answersOf(options, connected, open), ...mcp.answers }).connect(stream);
}

function answersOf(options: AcpOptions, connected: ConnectedClient, open: AcpSessions): Answers {
  const can = () => connected.can;
  return {
    ...openSessionAnswers(open),
    ...storedSessionAnswers(options.archive, open, can, () => withheldBy(connected.config)),
    ...usageAnswers(options.usage),
    modes({ modes }) {
      connected.modes = modes;
      open.ownModes = modes;
      return Promise.resolve({});
    },
    ...checkpointAnswers((id) => open.get(id)),
    ...reviewAnswers({
      ...options.review,
      roots: options.roots,
      editorOf: (client, id) => connected.editorOf(client, id),
      can,
    }),
  };
}

/** A recording contains only files that the model may read without a question, and no key. */
function withheldBy(config: EngineConfig): Withheld {
  const access = new SessionAccess(config, undefined, () => false);
  return {
    mayTell: (path, relative) =>
      access.mayRead({ path, relative, named: relative, exists: true }).verdict === "allow",
    key: config.provider?.api_key,
  };
}

function promptAnswer(end: TurnEnd) {
  if (end.type === "stopped") {
    const meta = end.problem === undefined
      ? {}
      : { _meta: { [META]: { problem: end.problem } satisfies TurnEndMeta } };
    return { stopReason: STOP_REASONS[end.reason], ...meta };
  }
  throw new RequestError(-32603, end.error.message, { kind: end.error.kind });
}
