/** Answers the screen's requests about sessions: `_agent/session_*` and the like. */
import { promptPart } from "./prompt_parts.ts";
import { exportJson, exportMarkdown } from "./export/export.ts";
import { history, outline, pageOf } from "./history.ts";
import { exportRecording, type Withheld } from "./export/recording.ts";
import { exportTrace } from "./export/trace.ts";
import type { Answers } from "./requests.ts";
import type { AcpSessions, Archive } from "./sessions.ts";
import type { Capabilities } from "./updates.ts";
import { ToolError } from "../../shared/errors.ts";
import { defined } from "../../shared/records.ts";
import { titleLine } from "../log/title.ts";

/** Answers about sessions that are open here. */
export function openSessionAnswers(open: AcpSessions): Answers {
  return {
    tools: at(({ sessionId, toggle }) => {
      const session = open.get(sessionId);
      if (toggle !== undefined) {
        session.tools.toggle(toggle);
        open.reportTools(sessionId);
      }
      return { tools: [...session.tools.list] };
    }),
    compact: async ({ sessionId, focus, undo }) => {
      const session = open.get(sessionId);
      if (undo) session.unfold();
      else await session.compact(focus);
      return {};
    },
    agents: async ({ sessionId, stop }) => {
      const { agents } = open.get(sessionId);
      if (stop !== undefined) await agents.end(stop);
      return { agents: [...agents.list()] };
    },
    agent_options: async ({ sessionId, change }) => ({ ...await open.get(sessionId).options(change) }),
    agent_login: async ({ sessionId, method }) => ({ ...await open.get(sessionId).login(method) }),
    index: async ({ sessionId, change }) => await open.indexOf(sessionId).state(change),
    context: at(({ sessionId, change }) => open.get(sessionId).context(change)),
    context_part: at(({ sessionId, at, name }) => ({ text: open.get(sessionId).contextPart(at, name) })),
    trace: at(({ sessionId }) => ({ text: exportTrace(open.get(sessionId).exchanges) })),
    aside: async ({ sessionId, id, question }) => {
      const { asides } = open.get(sessionId);
      if (question !== undefined) {
        return { text: await asides.ask(id, question, (text) => open.tellAside(sessionId, { id, text })) };
      }
      asides.stop(id);
      return { text: "" };
    },
    steer: async ({ sessionId, id, prompt }) => {
      const { steering } = open.get(sessionId);
      if (prompt !== undefined) return { end: await steering.say(id, prompt.map(promptPart)) };
      steering.takeBack(id);
      return { end: "taken_back" };
    },
    pause: async ({ sessionId, paused }) => {
      const { steering } = open.get(sessionId);
      if (paused) return { paused: await steering.pause() };
      steering.goOn();
      return { paused: false };
    },
    reread_rules: async ({ sessionId }) => {
      await open.get(sessionId).rereadRules();
      return {};
    },
  };
}

/** Answers about stored sessions. @param withheld texts that no recording may contain */
export function storedSessionAnswers(
  archive: Archive,
  open: AcpSessions,
  can: () => Capabilities,
  withheld: () => Withheld,
): Answers {
  const { store, sessions, locks, list } = archive;
  return {
    withdraw_messages: ({ ids }) =>
      Promise.resolve({ logged: [...sessions.withdrawUnlogged(ids, Date.now())] }),
    session_list: async ({ archived }) => {
      const elsewhere = await locks.openElsewhere();
      return {
        sessions: sessions.list(archived).map(({ id, title, created, updated, turns, files, tokens }) => ({
          ...{ sessionId: id, title, created, updated, archived, turns, files, tokens },
          open: elsewhere.has(id),
        })),
      };
    },
    session_history: async ({ sessionId, before, turns, diffs = false }) => {
      const isElsewhere = (await locks.openElsewhere()).has(sessionId);
      const stored = sessions.get(sessionId);
      const page = pageOf(stored.turns, before, turns);
      const entries = [...(diffs ? history : outline)(store, sessionId, page, can())];
      const isRunning = isElsewhere && stored.ended === undefined;
      const complete = before === undefined ? stored.turns - (isRunning ? 1 : 0) : undefined;
      return { entries, ...defined({ before: page.before, complete }) };
    },
    session_rename: async ({ sessionId, title }) => {
      const line = titleLine(title);
      if (line === undefined) throw new ToolError("A title needs a character that can be seen.");
      sessions.rename(sessionId, line);
      open.tellTitle(sessionId, line);
      await list.write();
      return { title: line };
    },
    session_archive: async ({ sessionId, archived }) => {
      sessions.archive(sessionId, archived);
      await list.write();
      return {};
    },
    session_delete: async ({ sessionId }) => {
      await open.remove(sessionId);
      return {};
    },
    session_fork: async ({ sessionId, turn }) => {
      const { id, title } = sessions.fork(sessionId, turn);
      await list.write();
      return { sessionId: id, title };
    },
    session_search: at(({ query, limit }) => ({ hits: [...sessions.search(query, limit)] })),
    session_export: at(({ sessionId, format, from }) => {
      const session = sessions.get(sessionId);
      if (format === "recording") return exportRecording(store, session, withheld(), from);
      return format === "json" ? exportJson(store, session, from) : exportMarkdown(store, session, from);
    }),
  };
}

/** Wraps a synchronous answer. */
function at<Params, Result>(answer: (params: Params) => Result): (params: Params) => Promise<Result> {
  return (params) => Promise.resolve().then(() => answer(params));
}
