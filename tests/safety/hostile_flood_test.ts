/** An engine that has been taken over floods the editor: it is ended, one line says why, and nobody waits for a key. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { method } from "../../denops/agent/protocol/extensions.ts";
import type { Order } from "../attacks/hostile_questions.ts";
import { watchFrames, worst } from "../support/frames.ts";
import { scratch } from "../support/project.ts";
import { startTainted } from "../support/tainted.ts";

/**
 * Milliseconds: what is promised, measured by `deno task attack`, which tries one thing after the other. In a run of all
 * tests others take their share of the caches; there it is held that nothing blocks for as long as it once did.
 */
const IS_ATTACK = Deno.env.get("AGENT_ATTACK_ALL") !== undefined;
const LONGEST_FRAME = IS_ATTACK ? 50 : 300;
const MOST_MEGABYTES = 200;

/** There a flood is four times as large: a quarter goes far over every bound. */
function many(times: number): number {
  return IS_ATTACK ? times : times / 4;
}

interface Flood {
  readonly name: string;
  orders(root: string): readonly Order[];
  /** What the chat says of it; without it the turn goes on to its end. */
  readonly says?: RegExp;
}

function update(fields: Readonly<Record<string, unknown>>, times = 1): Order {
  return { method: "session/update", request: false, params: { update: fields }, times };
}

function tool(fields: Readonly<Record<string, unknown>>, times = 1): Order {
  return update({ sessionUpdate: "tool_call", title: "look at #", kind: "read", ...fields }, times);
}

function text(letters: number, times: number): Order {
  const content = { type: "text", text: "x".repeat(letters) };
  return update({ sessionUpdate: "agent_message_chunk", messageId: "m", content }, times);
}

const ENDED = (why: string) => new RegExp(`The engine stopped \\(it ${why}.*\\)\\. The next message goes on`);

const FLOODS: readonly Flood[] = [
  {
    name: "tool calls that wait",
    orders: () => [tool({ toolCallId: "#", status: "pending" }, many(300_000))],
    says: ENDED("had more than .* open"),
  },
  {
    name: "tool calls that are done",
    orders: () => [tool({ toolCallId: "#", status: "completed" }, many(300_000))],
    says: ENDED("sent more than .* in one turn"),
  },
  {
    name: "notices",
    orders: () => [update({ sessionUpdate: "notice", severity: "info", title: "note #" }, many(300_000))],
    says: ENDED("sent more than .* in one turn"),
  },
  {
    name: "messages of one word",
    orders: () => [
      update({
        sessionUpdate: "agent_message_chunk",
        messageId: "#",
        content: { type: "text", text: "something" },
      }, many(300_000)),
    ],
    says: ENDED("sent more than .* in one turn"),
  },
  {
    name: "thoughts",
    orders: () => [
      update({
        sessionUpdate: "agent_thought_chunk",
        messageId: "#",
        content: { type: "text", text: "something" },
      }, many(300_000)),
    ],
    says: ENDED("had more than .* open"),
  },
  {
    name: "a text without an end, in one line",
    orders: () => [text(100_000, many(1_000))],
    says: ENDED("sent more than .* characters in one turn"),
  },
  {
    name: "outputs that are large and change all the time",
    orders: () => {
      const content = [{ type: "content", content: { type: "text", text: `#${"\nline".repeat(4_000)}` } }];
      const calls = Array.from(
        { length: 50 },
        (_, id) => tool({ toolCallId: `${id}`, content, status: "in_progress" }),
      );
      return Array.from({ length: 15 }, () => calls).flat();
    },
  },
  {
    name: "200,000 entries of a plan, again and again",
    orders: () => {
      const entries = Array.from({ length: 200_000 }, (_, at) => ({
        content: `step ${at}`,
        status: "pending",
        priority: "medium",
      }));
      return Array.from({ length: many(4) }, () => update({ sessionUpdate: "plan", entries }));
    },
  },
  { name: "JSON that is nested a million deep", orders: () => [{ depth: 1_000_000 }] },
  {
    name: "a line that has no end",
    orders: () => [{ letters: 40_000_000 }],
    says: ENDED("sent a message of more than"),
  },
  {
    name: "approvals",
    orders: () => [{
      method: "session/request_permission",
      request: true,
      params: { toolCall: { toolCallId: "#", title: "write #" }, options: [] },
      times: many(100_000),
      unanswered: true,
    }],
    says: ENDED("asked more than .* things at once"),
  },
  {
    name: "questions about buffers",
    orders: (root) => [{
      method: method("unsaved_text"),
      request: true,
      params: { path: join(root, "a.txt") },
      times: many(100_000),
      unanswered: true,
    }],
    says: ENDED("asked more than .* things at once"),
  },
  {
    name: "files that are said to have changed, with their texts",
    orders: (root) => {
      const path = join(root, "#.txt");
      const params = {
        toolCallId: "t",
        path,
        kind: "modified",
        before: "x\n".repeat(500),
        after: "y\n".repeat(500),
      };
      return [{ method: method("file_modified"), request: false, params, times: 40_000 }];
    },
    says: ENDED("sent more than"),
  },
  {
    name: "a file of 15 MB that is said to have changed",
    orders: (root) => {
      const before = "a line of text\n".repeat(1_000_000);
      const params = {
        toolCallId: "t",
        path: join(root, "other.txt"),
        kind: "modified",
        before,
        after: `${before}b\n`,
      };
      return [{ method: method("file_modified"), request: false, params }];
    },
  },
];

for (const { name, orders, says } of FLOODS) {
  Deno.test({
    name: `flood: ${name}`,
    ignore: Deno.build.os === "windows",
    async fn() {
      await using project = await scratch({ "package.json": "{}", "a.txt": "", "other.txt": "" });
      const { root } = project;
      await using tainted = await startTainted(orders(root), { root, columns: 100, lines: 40 });
      const { nvim } = tainted;
      await nvim.command("Agent warm up the windows");
      await watchFrames(nvim);
      const ready = `require("agent").status():find("ready$")`;
      await nvim.waitFor(ready, { timeout: 60_000 });
      if (says !== undefined) {
        const said = (await tainted.transcript()).slice(-3).join("\n");
        assert.match(said, says);
      }
      const { frame, megabytes } = await worst(nvim);
      assert.ok(frame < LONGEST_FRAME, `a frame took ${Math.round(frame)} ms`);
      assert.ok(megabytes < MOST_MEGABYTES, `Neovim holds ${Math.round(megabytes)} MB`);
      // The next message has an engine.
      await tainted.order([{ method: method("before_call"), request: true, params: {} }]);
      await nvim.command("Agent! again");
      await nvim.waitFor(
        `(function()
        local lines = vim.api.nvim_buf_get_lines(vim.fn.bufnr("agent://chat/1"), -20, -1, false)
        return table.concat(lines, "\\n"):find("before_call: .*deny_read")
      end)()`,
        { timeout: 20_000 },
      );
    },
  });
}
