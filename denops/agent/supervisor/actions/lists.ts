/** Lists that menus and the input's completion show. */
import { oneLine, visible } from "../screen/visible.ts";
import type { Skill } from "../skills/skills.ts";
import type { ActionContext, Handlers } from "./action.ts";

export function listActions(
  { chats, push, notice }: ActionContext,
): Handlers<"files" | "readable" | "prompts" | "tools" | "jobs"> {
  return {
    /** Empty if the project cannot be opened: the next message reports why. */
    async files(action) {
      const paths = await chats.at(action).session.project()
        .then(({ client }) => client.composer.fileNames(action.chat)).catch(() => []);
      push({ type: "files", request: action.request, paths });
    },
    async readable(action) {
      const { client: { composer } } = await chats.at(action).session.project();
      const { path, request, chat } = action;
      const view = { current: { path, line: 1, modified: false }, buffers: [] };
      push({ type: "readable", request, readable: composer.editorView(chat, view).current !== undefined });
    },
    /** Empty if the project cannot be opened: a sub-command after a slash, which waits for it, runs anyway. */
    async prompts(action) {
      const { session } = chats.at(action);
      let prompts: Awaited<ReturnType<typeof callable>> = [];
      try {
        prompts = await callable(session, action.chat);
      } finally {
        push({ type: "prompts", request: action.request, prompts });
      }
      const { client: { composer } } = await session.project();
      for (const problem of await composer.problems(action.chat)) notice(action.chat, "warning", problem);
    },
    async tools(action) {
      const { request, toggle } = action;
      const { tools } = await chats.at(action).session.request(
        "tools",
        (sessionId) => ({ sessionId, toggle }),
      );
      push({ type: "tools", request, tools });
    },
    /** Empty unless the session is open. */
    async jobs(action) {
      const { session } = chats.at(action);
      const { client: { terminals } } = await session.project();
      const { id } = session;
      if (id !== undefined && action.stop !== undefined) await terminals.stopJob(id, action.stop);
      const jobs = (id === undefined ? [] : terminals.jobs(id)).map(({ command, end, output, ...job }) => ({
        ...job,
        command: oneLine(command),
        state: oneLine(end ?? "running"),
        running: end === undefined,
        output: visible(output),
      }));
      push({ type: "jobs", request: action.request, jobs });
    },
  };
}

type ChatSession = ReturnType<ActionContext["chats"]["at"]>["session"];

/** Everything that a message can call by "/name", by name. @throws {Error} one line */
async function callable(session: ChatSession, chat: number) {
  const { client: { composer, skills: own } } = await session.project();
  const [{ prompts }, { skills }, ofServers] = await Promise.all([
    composer.prompts(chat),
    own.list().catch(() => ({ skills: [] })),
    serverPrompts(session),
  ]);
  // The first of a name is called, and that is one that is on.
  const order = ({ state }: Skill) => state === "on" ? 0 : 1;
  const named = skills.filter(({ state, file }) =>
    state !== "off" && state !== "replaced" && !prompts.has(file.name)
  ).toSorted((one, other) => order(one) - order(other)).map(({ state, file: { name, description } }) => ({
    kind: "skill" as const,
    name,
    description,
    hint: state === "on" ? "" : "(needs your approval)",
  }));
  const all = [
    ...[...prompts.values()].map((prompt) => ({ kind: "prompt" as const, ...prompt })),
    ...named,
    ...ofServers,
  ];
  return all.map(({ kind, name, description, hint }) => ({
    kind,
    name: oneLine(name),
    description: oneLine(description),
    hint: oneLine(hint),
  })).sort((one, other) => one.name < other.name ? -1 : 1);
}

/** The sub-command /stop waits for them, and is for engines that hang. */
const SERVERS_MS = 2_000;

/** The prompts of MCP servers that run, if the session is open and its engine answers in time. */
async function serverPrompts({ id: sessionId, engine }: ChatSession) {
  if (sessionId === undefined || engine === undefined) return [];
  const none = { servers: [] };
  const { servers } = await Promise.race([
    engine.request("mcp", { sessionId }).catch(() => none),
    new Promise<typeof none>((resolve) => setTimeout(() => resolve(none), SERVERS_MS)),
  ]);
  return servers.flatMap(({ name: server, prompts }) =>
    prompts.map(({ name, description, arguments: words }) => ({
      kind: "mcp" as const,
      name: `${server}:${name}`,
      description,
      hint: words.map((word) => `${word}=…`).join(" "),
    }))
  );
}
