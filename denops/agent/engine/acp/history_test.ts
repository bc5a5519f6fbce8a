import assert from "node:assert/strict";
import { asked } from "../../../../tests/support/entries.ts";
import { history } from "./history.ts";
import type { AgentEvent } from "../log/events.ts";

function started(id: string, order: number): AgentEvent {
  return { type: "tool_start", call: { id, tool: "read_file", title: id, kind: "read", paths: [] }, order };
}

function done(id: string): AgentEvent {
  return { type: "tool_done", id, status: "completed", summary: `${id} done`, output: "" };
}

Deno.test("the calls of an answer come back in the order in which the model wrote them, and those of a sub-agent below its call", () => {
  const events: readonly AgentEvent[] = [
    asked("First"),
    ...[started("c", 10_002), started("a", 10_000), done("c"), started("b", 10_001), done("a"), done("b")],
    ...[started("d", 20_000), { ...started("under-d", 10_000), parent: "d" }, done("under-d"), done("d")],
    asked("Second"),
    ...[started("f", 10_001), started("e", 10_000), done("f"), done("e")],
  ];
  const store = { events: () => events.map((entry) => ({ turn: 1, time: 0, entry })) };
  const entries = history(store, "s", { first: 1, last: 2 }, { notices: true, extensions: new Set() });
  const shown = entries.flatMap((entry) =>
    entry.type === "update" && entry.update.sessionUpdate === "tool_call"
      ? [`${entry.update.title} ${entry.update.status} ${entry.update.toolCallId}`]
      : []
  );
  assert.deepEqual(shown, ["a", "b", "c", "d", "under-d", "e", "f"].map((id) => `${id} completed ${id}`));
});
