/** Manages sessions over ACP: open ones, stored ones, and the user's actions on them. */
import type { NotificationParams } from "../../protocol/screen_requests.ts";
import {
  type AgentApp,
  type AgentContext,
  methods,
  RequestError,
  type SessionInfo,
  type SessionUpdate,
} from "../../deps/acp_sdk.ts";
import { META, type SessionMeta } from "../../protocol/extensions.ts";
import type { HistoryEntry } from "../../protocol/requests.ts";
import { history } from "./history.ts";
import { modesOf } from "./modes.ts";
import type { Capabilities, UpdateSender } from "./updates.ts";
import type { SessionModes } from "../agent/settings/session_modes.ts";
import { messageOf, ToolError } from "../../shared/errors.ts";
import { defined } from "../../shared/records.ts";
import type { CodeIndex } from "../ports/code_index.ts";
import type { Store } from "../ports/store.ts";
import type { Session } from "../session/session.ts";
import { Scratch } from "../tools/files/scratch.ts";
import type { SessionLocks } from "../store/locks.ts";
import type { SessionList } from "../store/session_list.ts";
import type { Place, StoredSessions } from "../store/sessions.ts";

/** Sessions on one page of session/list. */
const PAGE = 100;
/** Turns that session/load reads at a time. */
const LOADED_TURNS = 50;

const DAY_MS = 24 * 60 * 60 * 1_000;

const ELSEWHERE = "This session is open in another program. Close it there, or fork it.";

const AT_WORK = "This sub-agent is at work. :Agent agents shows what it does.";

export interface Archive {
  readonly store: Store;
  readonly sessions: StoredSessions;
  readonly locks: SessionLocks;
  readonly list: SessionList;
}

export interface AcpSession {
  readonly session: Session;
  readonly sender: UpdateSender;
  /** Undefined: the client does not list files. */
  readonly index: CodeIndex | undefined;
  /** Tells the client whether the next turn has tools, if that has changed. */
  reportTools(): void;
  /** Called when the session is closed. */
  left(): void;
}

/** Creates or loads the session of this id. @param roots real paths, the project first */
type Start = (client: AgentContext, id: string, roots: readonly string[]) => AcpSession;

export class AcpSessions {
  readonly #archive: Archive;
  /** Real paths of the folders that this engine can access, the project first. */
  readonly #roots: readonly string[];
  readonly #start: Start;
  readonly #open = new Map<string, AcpSession>();
  /** Concurrent requests share the opening of a session. */
  readonly #opening = new Map<string, Promise<AcpSession>>();
  readonly #closing = new Map<string, Promise<void>>();

  constructor(archive: Archive, roots: readonly string[], start: Start) {
    this.#archive = archive;
    this.#roots = roots;
    this.#start = start;
  }

  async begin(client: AgentContext, cwd: string, others: readonly string[]): Promise<AcpSession> {
    const roots = await this.#granted(cwd, others);
    return await this.#take(client, crypto.randomUUID(), roots);
  }

  /** @throws {RequestError} one line, if it does not exist or another engine has it open */
  async resume(
    client: AgentContext,
    id: string,
    cwd: string,
    others: readonly string[],
  ): Promise<AcpSession> {
    const roots = await this.#granted(cwd, others);
    await this.#closing.get(id);
    const known = this.#open.get(id) ?? this.#opening.get(id);
    if (known !== undefined) return await known;
    const opening = this.#resume(client, id, roots).finally(() => this.#opening.delete(id));
    this.#opening.set(id, opening);
    return await opening;
  }

  async #resume(client: AgentContext, id: string, roots: readonly string[]): Promise<AcpSession> {
    const { call, turns, ended } = this.stored(id);
    // A sub-agent's log has one writer; the user may start its second turn.
    if (call !== undefined && turns === 1 && ended === undefined) throw new RequestError(-32603, AT_WORK);
    return await this.#take(client, id, roots);
  }

  async #take(client: AgentContext, id: string, roots: readonly string[]): Promise<AcpSession> {
    const { locks } = this.#archive;
    const free = await locks.take(id).catch((error) => {
      throw new RequestError(-32603, `Cannot use the state folder: ${messageOf(error)}`);
    });
    if (!free) throw new RequestError(-32603, ELSEWHERE);
    try {
      const open = this.#start(client, id, roots);
      this.#open.set(id, open);
      return open;
    } catch (error) {
      await locks.free(id);
      throw error;
    }
  }

  /** @throws {RequestError} if the session is not open here */
  get(id: string): Session {
    const open = this.#open.get(id);
    if (open === undefined) {
      throw RequestError.invalidParams(undefined, "no such session is open; it may have been deleted");
    }
    return open.session;
  }

  /** @throws {ToolError} one line */
  indexOf(id: string): CodeIndex {
    const index = this.#open.get(id)?.index;
    if (index === undefined) throw new ToolError("This client lists no files, so nothing can be indexed.");
    return index;
  }

  get isBusy(): boolean {
    return this.#open.values().some(({ session }) => session.isBusy);
  }

  cancel(id: string): void {
    this.#open.get(id)?.session.cancel();
  }

  /** Ends what runs, then closes the session. Does nothing if it is not open here. */
  async close(id: string): Promise<void> {
    await this.#opening.get(id)?.catch(() => {});
    const open = this.#open.get(id);
    if (open === undefined) return;
    const closing = this.#closing.get(id) ?? this.#close(id, open).finally(() => this.#closing.delete(id));
    this.#closing.set(id, closing);
    await closing;
  }

  async #close(id: string, { session, left }: AcpSession): Promise<void> {
    await session.close();
    left();
    this.#open.delete(id);
    await this.#archive.locks.free(id);
  }

  /** @throws {RequestError} if the session is not stored */
  stored(id: string) {
    try {
      return this.#archive.sessions.get(id);
    } catch (error) {
      throw error instanceof ToolError ? RequestError.resourceNotFound(id) : error;
    }
  }

  /** The git branch that was created for this session. */
  branchOf(id: string): string | undefined {
    return this.#archive.store.session(id)?.branch;
  }

  turnsOf(id: string): number {
    return this.#archive.store.turn(id);
  }

  /**
   * The folders that the client requests, the project first. @throws {RequestError} if one was not granted
   */
  async #granted(cwd: string, others: readonly string[]): Promise<readonly string[]> {
    const [project = ""] = this.#roots;
    if (await realPath(cwd) !== project) {
      throw RequestError.invalidParams(undefined, `this engine works in ${project} only`);
    }
    const roots = [project];
    for (const folder of others) {
      const real = await realPath(folder);
      if (real === undefined || !this.#roots.includes(real)) {
        throw RequestError.invalidParams(undefined, `this engine may not touch ${folder}`);
      }
      roots.push(real);
    }
    return roots;
  }

  /** Sends everything that a screen of this session shows. */
  replay({ session: { id }, sender }: AcpSession, can: Capabilities): void {
    const { store } = this.#archive;
    const newest = store.turn(id);
    for (let first = 1; first <= newest; first += LOADED_TURNS) {
      const last = Math.min(newest, first + LOADED_TURNS - 1);
      for (const entry of history(store, id, { first, last }, can)) send(entry, sender);
    }
  }

  async list(cwd: string | undefined, cursor: string | undefined) {
    const after = cursor === undefined ? undefined : placeOf(cursor);
    const [root = ""] = this.#roots;
    if (cwd !== undefined && await realPath(cwd) !== root) return { sessions: [] };
    const page = this.#archive.sessions.page(after, PAGE);
    const sessions: SessionInfo[] = page.map(({ id, title, updated }) => ({
      sessionId: id,
      cwd: root,
      title,
      updatedAt: new Date(updated).toISOString(),
    }));
    const last = page.at(-1);
    return page.length < PAGE || last === undefined ? { sessions } : { sessions, nextCursor: cursorOf(last) };
  }

  /** Shows a new title if the session is open here. */
  tellTitle(id: string, title: string): void {
    this.#open.get(id)?.sender.send({ type: "title", title });
  }

  /** Updates the custom modes from files. */
  set ownModes(modes: SessionModes["own"]) {
    for (const { session, reportTools } of this.#open.values()) {
      session.modes.own = modes;
      reportTools();
    }
  }

  /** Call it after a change of a session's mode, model or tools. */
  reportTools(id: string): void {
    this.#open.get(id)?.reportTools();
  }

  /** Does nothing if the session is not open here. */
  tell(id: string, update: SessionUpdate): void {
    this.#open.get(id)?.sender.sendUpdate(update);
  }

  /** Sends a further part of an answer to a side question. */
  tellAside(id: string, params: NotificationParams<"aside">): void {
    this.#open.get(id)?.sender.screen.tell("aside", params);
  }

  /**
   * Does nothing if the session is not stored. @throws {RequestError} one line, if another engine has it open
   */
  async remove(id: string): Promise<void> {
    const { list, locks, sessions, store } = this.#archive;
    for (const one of [id, ...sessions.subagents(id)]) await this.close(one);
    if (!await locks.take(id)) {
      throw new RequestError(-32603, "This session is open in another program. Close it there.");
    }
    try {
      const owner = store.scratchOwner(id);
      sessions.remove(id);
      await list.write();
      const isUnused = store.scratchUsed(owner) === undefined;
      if (store.folder !== undefined && isUnused) await new Scratch(store.folder, owner).remove();
    } finally {
      await locks.free(id);
    }
  }

  /** Removes the scratch folders of unused sessions. */
  async expireScratch(): Promise<void> {
    const { store } = this.#archive;
    if (store.folder !== undefined) await Scratch.expire(store.folder, (owner) => store.scratchUsed(owner));
  }

  /** Deletes sessions that were unused for this many days; archived and open ones stay. */
  async expire(days: number): Promise<void> {
    for (const id of this.#archive.sessions.untouchedSince(Date.now() - days * DAY_MS)) {
      if (!this.#open.has(id) && !this.#opening.has(id)) await this.remove(id).catch(() => {});
    }
  }
}

/** Serves the protocol's methods for stored sessions. */
export function serveSessions(app: AgentApp, open: AcpSessions, can: () => Capabilities): AgentApp {
  const { session } = methods.agent;
  return app
    .onRequest(session.list, ({ params }) => open.list(params.cwd ?? undefined, params.cursor ?? undefined))
    .onRequest(session.load, async ({ params, client }) => {
      const { sessionId, cwd, additionalDirectories = [] } = params;
      const opened = await open.resume(client, sessionId, cwd, additionalDirectories);
      open.replay(opened, can());
      return modesOf(opened.session.modes);
    })
    .onRequest(session.resume, async ({ params, client }) => {
      const { sessionId, cwd, additionalDirectories = [] } = params;
      const { session } = await open.resume(client, sessionId, cwd, additionalDirectories);
      const meta = { turns: open.turnsOf(sessionId), ...defined({ branch: open.branchOf(sessionId) }) };
      return { ...modesOf(session.modes), _meta: { [META]: meta satisfies SessionMeta } };
    })
    .onRequest(session.delete, async ({ params }) => {
      await open.remove(params.sessionId);
      return {};
    })
    .onRequest(session.close, async ({ params }) => {
      await open.close(params.sessionId);
      return {};
    });
}

function send(entry: HistoryEntry, sender: UpdateSender): void {
  if (entry.type === "update") {
    return sender.sendUpdate(entry.update as Parameters<UpdateSender["sendUpdate"]>[0]);
  }
  // Our own screen requests the history; other clients do not know these entries.
  if (entry.type === "turn_files" || entry.type === "calls_undone") return;
  // The protocol reports the end of a turn only in the answer to its prompt.
  if (entry.error !== undefined) sender.send({ type: "notice", severity: "error", text: entry.error });
  else if (entry.reason === "interrupted") {
    sender.send({ type: "notice", severity: "info", text: "Interrupted." });
  }
}

function cursorOf({ updated, id }: Place): string {
  return btoa(JSON.stringify([updated, id]));
}

/** @throws {RequestError} if the cursor is not ours */
function placeOf(cursor: string): Place {
  try {
    const [updated, id]: readonly unknown[] = JSON.parse(atob(cursor));
    if (typeof updated === "number" && typeof id === "string") return { updated, id };
  } catch {
    // Not JSON.
  }
  throw RequestError.invalidParams(undefined, "no such cursor");
}

async function realPath(path: string): Promise<string | undefined> {
  return await Deno.realPath(path).catch(() => undefined);
}
