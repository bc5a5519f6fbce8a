/** Which parts of a view the user can drop or pin, and what becomes of them. */
import assert from "node:assert/strict";
import { answered, asked, result } from "../../../../tests/support/entries.ts";
import type { MessageEntry } from "../log/entries.ts";
import { choose } from "../agent/gather/context_page.ts";
import { Memory } from "../agent/permission/memory.ts";
import { withoutDropped } from "./chosen.ts";
import { planMasks } from "./folding/fold_plan.ts";
import { messageParts } from "./message_parts.ts";

const LONG = "line\n".repeat(200);

const call = (id: string, name: string, path: string) => ({ id, name, arguments: path });
const LOG: readonly MessageEntry[] = [
  asked("one"),
  answered("", [call("1", "read", "a.ts"), call("2", "run", "npm test"), call("3", "read", "b.ts")]),
  ...["1", "2", "3"].map((id) => result(id, "read", LONG)),
  { type: "control_note", reason: "rules", text: "Use tabs.", path: "src/AGENTS.md" },
  answered("", [call("4", "read", "a.ts")]),
  result("4", "read", LONG),
  ...[answered("ok"), asked("two"), answered("ok"), asked("three"), answered("ok")],
];

function chosen(): Memory {
  return new Memory([]);
}

function parted(choice = chosen()): Parameters<typeof messageParts>[0] {
  const about = ({ name, arguments: path }: { name: string; arguments: string }) => ({
    ...{ title: `${name} ${path}`, path: name === "read" ? path : undefined, writes: false },
  });
  return { messages: LOG, masked: new Map(), compaction: undefined, chosen: choice, about };
}

function page(choice: ReturnType<typeof chosen>) {
  const parts = messageParts(parted(choice));
  const lines = new Map(
    parts.flatMap(({ part: { id }, lines }) => id === undefined ? [] : [[id, lines] as const]),
  );
  return { parts: parts.map(({ part }) => part), lines };
}

Deno.test("each file, call and file of rules is a part of its own; what is folded first is marked", () => {
  const { parts } = page(chosen());
  assert.deepEqual(parts.filter(({ id }) => id !== undefined), [
    { group: "files", name: "a.ts", characters: 2_000, id: "file:a.ts", next: true },
    { group: "results", name: "run npm test", characters: 1_000, id: "result:2", next: true },
    { group: "files", name: "b.ts", characters: 1_000, id: "file:b.ts" },
    { group: "rules", name: "src/AGENTS.md", characters: 9, id: "rules:src/AGENTS.md" },
  ]);
  assert.deepEqual(
    parts.filter(({ group }) => group === "messages").map(({ name, characters }) => [name, characters]),
    [["your messages", 11], ["answers", 6], ["calls", 35]],
  );
});

Deno.test("what is dropped is a line, in every place where it stands, and comes back as it was", () => {
  const choice = chosen();
  choose(choice, { id: "file:a.ts", to: "dropped" }, page(choice));
  choose(choice, { id: "rules:src/AGENTS.md", to: "dropped" }, page(choice));
  const texts = withoutDropped(LOG, choice).flatMap((entry) => "text" in entry ? [entry.text] : []);
  const line = "[read a.ts, 201 lines: dropped by the user; call it again if you need it]";
  assert.equal(texts.filter((text) => text === line).length, 2);
  assert.ok(texts.includes("[Rules of src/AGENTS.md: dropped by the user]"));
  assert.equal(page(choice).parts.find(({ id }) => id === "file:a.ts")?.state, "dropped");
  choose(choice, { id: "file:a.ts", to: "plain" }, page(choice));
  choose(choice, { id: "rules:src/AGENTS.md", to: "plain" }, page(choice));
  assert.deepEqual(withoutDropped(LOG, choice), LOG);
  assert.throws(() => choose(choice, { id: "file:c.ts", to: "dropped" }, page(choice)), /no longer sent/);
});

Deno.test("what is pinned is not masked: of a file its newest state", () => {
  const choice = chosen();
  const masked = () => planMasks(parted(choice), () => true)?.results.map(({ id }) => id) ?? [];
  assert.deepEqual(masked(), ["1", "2"]);
  choose(choice, { id: "result:2", to: "pinned" }, page(choice));
  assert.deepEqual(masked(), ["1"]);
  choose(choice, { id: "file:a.ts", to: "pinned" }, page(choice));
  assert.deepEqual(planMasks(parted(choice), () => true)?.results.map(({ id }) => id), ["1"]);
  choose(choice, { id: "file:a.ts", to: "dropped" }, page(choice));
  assert.deepEqual(masked(), ["3"]);
});
