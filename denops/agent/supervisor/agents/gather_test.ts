import assert from "node:assert/strict";
import fc from "fast-check";
import type { SessionNotification } from "../../deps/acp_sdk.ts";
import { Gather } from "./gather.ts";

type Kind = "agent_message_chunk" | "agent_thought_chunk";

function chunk(text: string, kind: Kind = "agent_message_chunk", messageId = "m"): SessionNotification {
  return {
    sessionId: "s",
    update: { sessionUpdate: kind, messageId, content: { type: "text", text } },
  };
}

Deno.test("a thousand tokens told one by one come in a few pieces, and a call does not overtake them", () => {
  const told: SessionNotification[] = [];
  const gather = new Gather((notification) => told.push(notification));
  for (let token = 0; token < 1_000; token++) gather.add(chunk(`${token} `));
  const call = { sessionUpdate: "tool_call", toolCallId: "c", title: "read" } as const;
  gather.add({ sessionId: "s", update: call });
  assert.deepEqual(told.at(-1)?.update, call);
  assert.ok(told.length < 50, `${told.length} updates`);
  const text = told.map(({ update }) =>
    update.sessionUpdate === "agent_message_chunk" && update.content.type === "text"
      ? update.content.text
      : ""
  );
  assert.equal(text.join(""), Array.from({ length: 1_000 }, (_, token) => `${token} `).join(""));
});

Deno.test("whatever is told: each message's text and each thought is whole, in order", () => {
  const kind = fc.constantFrom<Kind>("agent_message_chunk", "agent_thought_chunk");
  const piece = fc.record({ text: fc.string(), kind, message: fc.constantFrom("a", "b") });
  fc.assert(fc.property(fc.array(piece), (pieces) => {
    const told: SessionNotification[] = [];
    const gather = new Gather((notification) => told.push(notification));
    for (const { text, kind, message } of pieces) gather.add(chunk(text, kind, message));
    gather.flush();
    const runs = (of: readonly SessionNotification[]) => {
      const all: string[][] = [];
      for (const { update } of of) {
        if (!("content" in update) || Array.isArray(update.content) || update.content?.type !== "text") {
          continue;
        }
        const name = `${update.sessionUpdate} ${"messageId" in update ? update.messageId : ""}`;
        const last = all.at(-1);
        if (last?.[0] === name) last[1] += update.content.text;
        else all.push([name, update.content.text]);
      }
      return all;
    };
    assert.deepEqual(runs(told), runs(pieces.map(({ text, kind, message }) => chunk(text, kind, message))));
  }));
});
