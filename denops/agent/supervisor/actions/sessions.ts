/** Requests about sessions: of the engine, and of the stored sessions of all projects. */
import { type RequestName, type RequestParams, REQUESTS } from "../../protocol/requests.ts";
import { defined } from "../../shared/records.ts";
import { ownFilesOnly, shownAnswer } from "../agents/confine.ts";
import type { Engine } from "../agents/engine.ts";
import type { OpenProject } from "../client/open_project.ts";
import { historyUpdates } from "../screen/history.ts";
import { storedSessions } from "../sessions/stored_sessions.ts";
import { type ActionContext, type ActionOf, answer, type Handlers } from "./action.ts";

/** Requests that need the session open in the engine. */
const OF_OPEN: ReadonlySet<RequestName> = new Set<RequestName>([
  "checkpoints",
  "changes",
  "undo",
  "redo",
  "restore_preview",
  "restore",
  "compact",
  "context",
  "context_part",
  "trace",
]);

export function sessionActions(context: ActionContext): Handlers<"engine_request" | "sessions"> {
  const { chats, push } = context;
  return {
    async engine_request(action) {
      const answering = request(context, action);
      if (action.name === "session_history") chats.of(action.chat).session.noteReading(answering);
      await answer(context, action.request, answering);
    },
    async sessions(action) {
      const { state_dir } = chats.projects.options;
      const [root, sessions] = await Promise.all([
        chats.projects.root(action).catch(() => undefined),
        storedSessions(state_dir),
      ]);
      push({ type: "sessions", request: action.request, ...defined({ root }), sessions });
    },
  };
}

async function request(
  context: ActionContext,
  action: ActionOf<"engine_request">,
): Promise<Record<string, unknown>> {
  const { chats } = context;
  const { chat, name, params } = action;
  const { session } = chats.of(chat);
  const project = await session.projectInOrder(action);
  const { roots } = project;
  if (OF_OPEN.has(name)) await openSession(context, action);
  const engine = chats.engineOf(params.sessionId) ?? project.engine;
  if (name === "session_fork") return shownAnswer(await fork(context, project, engine, params), roots);
  if (name !== "session_history") return shownAnswer(await send(engine, name, params), roots);
  const { entries, before, complete } = ownFilesOnly(await send(engine, "session_history", params), roots);
  if (complete !== undefined) session.noteTurn(complete);
  const { modes, permissions } = project.client;
  const approvals = await permissions.log.ofSession(permissions.root, String(params.sessionId));
  const updates = historyUpdates(chat, entries, roots, approvals);
  await session.showStored(modes, String(params.sessionId));
  return { updates, ...defined({ before, complete }) };
}

/** The session may be stored but not open. */
async function openSession({ chats }: ActionContext, action: ActionOf<"engine_request">): Promise<void> {
  const { sessionId } = action.params;
  if (typeof sessionId !== "string" || chats.engineOf(sessionId) !== undefined) return;
  await chats.at({ ...action, session: sessionId }).session.open();
}

/** The copy keeps the mode, the provider and the model, and what it has read. */
async function fork(
  { chats }: ActionContext,
  { client: { modes } }: OpenProject,
  engine: Engine,
  params: unknown,
): Promise<Record<string, unknown>> {
  const copy = await send(engine, "session_fork", params);
  const { sessionId, turn } = REQUESTS.session_fork.params.parse(params);
  const { book: models, taints } = chats.projects;
  try {
    await taints.fork(sessionId, copy.sessionId, turn);
  } catch (error) {
    // Nothing would say what the copy has read.
    await send(engine, "session_delete", { sessionId: copy.sessionId });
    throw error;
  }
  const [mode, model] = await Promise.all([modes.book.of(sessionId), models.of(sessionId)]);
  if (mode !== undefined) await modes.book.note(copy.sessionId, mode);
  if (model !== undefined) await models.note(copy.sessionId, model);
  return copy;
}

async function send<Name extends RequestName>(engine: Engine, name: Name, params: unknown) {
  return await engine.request(name, REQUESTS[name].params.parse(params) as RequestParams<Name>);
}
