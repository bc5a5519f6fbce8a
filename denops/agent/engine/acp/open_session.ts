/** Opens a session for a client: its runner, its editor, and the path of its events to the screen. */
import type { AgentContext } from "../../deps/acp_sdk.ts";
import type { EngineConfig, ListedModel } from "../../protocol/config.ts";
import type { ScreenResult } from "../../protocol/screen_requests.ts";
import { startTrace } from "../../protocol/trace.ts";
import { earlierSession } from "../agent/gather/earlier.ts";
import type { Runner } from "../agent/turn/runner.ts";
import type { AgentEvent } from "../log/events.ts";
import type { UsageLog } from "../ports/usage.ts";
import { Session } from "../session/session.ts";
import type { ClientAbilities } from "../ports/abilities.ts";
import { clientAbilities, type IndexOptions } from "./abilities.ts";
import { linkMaker } from "./checkpoints.ts";
import type { ConnectedClient } from "./connected_client.ts";
import type { AcpMcp } from "./pipes/mcp.ts";
import { offerModels } from "./modes.ts";
import { Moment } from "./moment.ts";
import { permissionAsker } from "./permissions.ts";
import { Screen } from "./screen.ts";
import type { AcpSession, Archive } from "./sessions.ts";
import { UpdateSender } from "./updates.ts";

/** Events that change the list of sessions. */
const LISTED: ReadonlySet<AgentEvent["type"]> = new Set([
  "user_message",
  "turn_done",
  "turn_failed",
  "title",
]);

export interface SessionOptions extends IndexOptions {
  readonly usage: UsageLog;
  readonly archive: Archive;
  /** One line for the user about the state folder; the next turn reports it. */
  notice(): string | undefined;
  /** The provider's models. @throws {Error} one line */
  models(config: EngineConfig): Promise<readonly ListedModel[] | undefined>;
  /** Prepares this process for its first message. @param send sends an event of the session with this id */
  warmUp(
    config: EngineConfig,
    abilities: Partial<ClientAbilities>,
    send: (id: string, event: AgentEvent) => void,
    isLate: () => boolean,
  ): void;
  /**
   * @param abilities the client's services for tools @param renew requests a valid key from the client, if it
   * supports that
   */
  runner(
    config: EngineConfig,
    abilities: Partial<ClientAbilities>,
    renew: ((refused: boolean, signal: AbortSignal) => Promise<ScreenResult<"provider_key">>) | undefined,
  ): Runner;
}

/** @param roots real paths, the project first @throws {RequestError} one line, without a configuration */
export function openSession(
  options: SessionOptions & { readonly mcp: AcpMcp },
  connected: ConnectedClient,
  client: AgentContext,
  { id, roots }: { readonly id: string; readonly roots: readonly string[] },
): AcpSession {
  const { can, config } = connected;
  const { list, store } = options.archive;
  const sender = new UpdateSender(client, id, can);
  const screen = new Screen(client, id, can.extensions);
  const moment = new Moment(screen);
  const ask = permissionAsker(client, id);
  if (screen.has("trace")) startTrace((spans) => screen.tell("trace", { spans }));
  // Another agent has servers of its own.
  const mcp = config.agent === undefined ? options.mcp.join(id, client) : undefined;
  const { index } = options;
  const abilities = clientAbilities(client, screen, moment, { id, can, mcp, index, config });
  let early: string | undefined;
  const session = new Session(id, roots, {
    config,
    runner: options.runner(config, abilities, keyRenewal(screen)),
    store,
    usage: options.usage,
    editor: connected.editorOf(client, id),
    makeLink: linkMaker(screen),
    ask: (request, signal) => list.whileWaiting(id, () => ask(request, signal)),
    ...(screen.has("before_call") ? { fileRules: () => moment.rules() } : {}),
    surroundings: screen.has("surroundings")
      ? { ask: (wanted, signal) => screen.ask("surroundings", wanted, signal) }
      : {},
    mcp,
    commands: abilities.commands,
    attachments: { abilities, earlier: (word) => earlierSession(options.archive, id, word) },
    publish(event) {
      if (event.type === "file_modified") abilities.index?.changed();
      // At once, and first: who sees the end of a turn finds it in the list.
      if (LISTED.has(event.type)) void list.write();
      if (event.type !== "notice" || event.text !== early) sender.send(event);
    },
  });
  const reportTools = toolsReporter(session, screen);
  // The client knows the session only after the answer.
  setTimeout(() => {
    reportTools();
    early = options.notice();
    if (early !== undefined) sender.send({ type: "notice", severity: "warning", text: early });
    session.prepare();
    // Our own client ignores updates of unknown sessions.
    const send = (id: string, event: AgentEvent) => new UpdateSender(client, id, can).send(event);
    // No server starts before the user's first turn.
    const { mcp: _, ...others } = abilities;
    const isOwn = can.extensions.size > 0 && config.agent === undefined;
    if (isOwn) options.warmUp(config, others, send, () => session.isBusy);
    session.checkpoints.recover().catch(() => {});
    // Our own client requests the list when it shows it.
    if (can.extensions.size === 0) offerModels(session.modes, options.models(config), sender);
  }, 0);
  return { session, sender, index: abilities.index, reportTools, left: () => options.mcp.leave(id) };
}

/** Undefined if the client renews no keys. */
function keyRenewal(screen: Screen): Parameters<SessionOptions["runner"]>[2] {
  if (!screen.has("provider_key")) return undefined;
  return (refused, signal) => screen.ask("provider_key", { refused }, signal);
}

/** Tells the client whether the next turn has tools, if that has changed. */
function toolsReporter(session: Session, screen: Screen): () => void {
  let hadTools: boolean | undefined;
  return () => {
    const { hasTools: available } = session;
    if (available !== hadTools) screen.tell("tools", { available });
    hadTools = available;
  };
}
