/** What one turn of an engine may bring to the screen, by the kind of what it brings. */
import assert from "node:assert/strict";
import type { Update } from "../../denops/agent/protocol/ui.ts";
import { Bounds } from "../../denops/agent/supervisor/screen/bounds.ts";

const CHAT = 1;
const ENTRIES = "sent more than 20,000 entries in one turn";
const OPEN = "had more than 1,000 calls and thoughts open";
const CHARACTERS = "sent more than 20,000,000 characters in one turn";

interface Kind {
  readonly name: string;
  update(number: number): Update;
  /** So many go in. */
  readonly most: number;
  readonly why: string;
}

const KINDS: readonly Kind[] = [
  {
    name: "calls that wait",
    update: (number) => ({ type: "tool", chat: CHAT, id: `${number}`, status: "pending" }),
    most: 1_000,
    why: OPEN,
  },
  {
    name: "calls that are done",
    update: (number) => ({ type: "tool", chat: CHAT, id: `${number}`, status: "completed" }),
    most: 20_000,
    why: ENTRIES,
  },
  {
    name: "notices",
    update: (number) => ({ type: "notice", chat: CHAT, severity: "info", text: `note ${number}` }),
    most: 20_000,
    why: ENTRIES,
  },
  {
    name: "messages",
    update: (number) => ({ type: "text", chat: CHAT, message: `${number}`, text: "something" }),
    most: 20_000,
    why: ENTRIES,
  },
  {
    name: "thoughts",
    update: (number) => ({ type: "thought", chat: CHAT, message: `${number}`, text: "something" }),
    most: 1_000,
    why: OPEN,
  },
  {
    name: "pieces of one message",
    update: () => ({ type: "text", chat: CHAT, message: "m", text: "x".repeat(100_000) }),
    most: 200,
    why: CHARACTERS,
  },
  {
    name: "files that are said to have changed",
    update: (number) => ({
      type: "file_modified",
      chat: CHAT,
      path: `/${number}.txt`,
      kind: "modified",
      before: "x\n",
      after: "y\n",
    }),
    most: 20_000,
    why: ENTRIES,
  },
  {
    name: "plans",
    update: () => ({ type: "plan", chat: CHAT, steps: [] }),
    most: 20_000,
    why: ENTRIES,
  },
];

for (const { name, update, most, why } of KINDS) {
  Deno.test(`of ${name} a turn brings ${most}: the next says why it is over, once, and the next turn begins anew`, () => {
    const bounds = new Bounds();
    for (let number = 0; number < most; number++) {
      assert.equal(bounds.admit(update(number)), "in", `${number}`);
    }
    const after = [bounds.admit(update(most)), bounds.admit(update(most + 1))];
    assert.deepEqual(after, [{ why }, "out"]);
    bounds.admit({ type: "turn_started", chat: CHAT });
    assert.equal(bounds.admit(update(0)), "in");
  });
}

Deno.test("one turn's excess is no other chat's", () => {
  const bounds = new Bounds();
  const thought = (chat: number, number: number) =>
    bounds.admit({ type: "thought", chat, message: `${number}`, text: "" });
  for (let number = 0; number <= 1_001; number++) thought(CHAT, number);
  assert.equal(thought(CHAT, 0), "out");
  assert.equal(thought(CHAT + 1, 0), "in");
});
