/** Lists that menus and the input's completion show. */
import { oneLine, visible } from "../screen/visible.ts";
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
    async prompts(action) {
      const { client: { composer } } = await chats.at(action).session.project();
      const { prompts } = await composer.prompts(action.chat);
      const list = [...prompts.values()]
        .map(({ name, description, hint }) => ({
          name,
          description: oneLine(description),
          hint: oneLine(hint),
        }))
        .sort((one, other) => one.name < other.name ? -1 : 1);
      push({ type: "prompts", request: action.request, prompts: list });
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
