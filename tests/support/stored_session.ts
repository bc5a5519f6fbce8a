/** A long session, put into a project's store as the engine would have. */
import assert from "node:assert/strict";
import { join } from "node:path";
import type { AgentEvent } from "../../denops/agent/engine/log/events.ts";
import type { MessageEntry } from "../../denops/agent/engine/log/entries.ts";
import { Database } from "../../denops/agent/engine/store/database.ts";
import { SessionList } from "../../denops/agent/engine/store/session_list.ts";
import { StoredSessions } from "../../denops/agent/engine/store/sessions.ts";
import { SqliteStore } from "../../denops/agent/engine/store/sqlite.ts";
import type { RunningAgent } from "./agent.ts";
import { answered, asked, result } from "./entries.ts";

/** Turns that are stored at once. */
const BATCH = 100;

/** Messages of one turn: the question, the call, its result, the answer. */
export const MESSAGES_IN_TURN = 4;

/**
 * A session of so many turns, "question N" and "answer N". The project's engine has run once, so that there is a
 * store; it may still run.
 */
export async function storeSession({ project, state }: RunningAgent, turns: number): Promise<void> {
  let folder: string | undefined;
  for await (const { name } of Deno.readDir(state.root)) {
    if (await Deno.stat(join(state.root, name, "agent.db")).then(() => true, () => false)) folder = name;
  }
  assert.ok(folder !== undefined);
  using database = await Database.openIn(join(state.root, folder));
  const store = new SqliteStore(database);
  const id = crypto.randomUUID();
  store.createSession({ id, root: project.root, model: "scripted" });
  for (let first = 1; first <= turns; first += BATCH) {
    const last = Math.min(turns, first + BATCH - 1);
    database.transaction(() => {
      for (let turn = first; turn <= last; turn++) {
        store.append(id, { entries: [...messagesOf(turn), ...eventsOf(turn)] });
      }
    });
  }
  const stored = new StoredSessions(database);
  await new SessionList(stored, store.writes, join(state.root, folder), project.root).write();
}

function messagesOf(turn: number): readonly MessageEntry[] {
  const call = { id: `call-${turn}`, name: "read_file", arguments: '{"path": "README.md"}' };
  return [
    asked(`question ${turn}`),
    answered("", [call]),
    result(call.id, call.name, "1\t# demo"),
    answered(answer(turn)),
  ];
}

function eventsOf(turn: number): readonly AgentEvent[] {
  const id = `call-${turn}`;
  const call = { id, tool: "read_file", title: "read README.md", kind: "read", paths: [] } as const;
  return [
    { type: "thought", message: `thought-${turn}`, text: "The file says it." },
    { type: "thought_done", message: `thought-${turn}`, milliseconds: 1_200 },
    { type: "tool_start", call },
    { type: "tool_running", id, rule: "read" },
    { type: "tool_done", id, status: "completed", summary: "1 line", output: "1\t# demo" },
    { type: "token", message: `message-${turn}`, text: answer(turn) },
    { type: "turn_done", reason: "end_turn" },
  ];
}

function answer(turn: number): string {
  return `answer ${turn}: it stands in \`README.md\`.\n\n- one thing\n- another, ${
    "in more words, ".repeat(8)
  }`;
}
