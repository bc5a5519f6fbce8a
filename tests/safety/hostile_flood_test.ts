/** An engine that has been taken over floods the editor: it is ended, one line says why, and nobody waits for a key. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { META, method } from "../../denops/agent/protocol/extensions.ts";
import type { Order } from "../attacks/hostile_questions.ts";
import { watchFrames, worst } from "../support/frames.ts";
import { scratch, waitUntil } from "../support/project.ts";
import { IS_FULL } from "../support/sample.ts";
import { startTainted, type Tainted } from "../support/tainted.ts";

const MOST_MEGABYTES = 200;
/** Of a chat: what a turn may bring, and what is around it. */
const MOST_LINES = 45_000;
const MOST_CHARACTERS = 5_000_000;
/**
 * How many times as long a frame may take as the longest while an honest engine streams, on the same machine just before.
 * `deno task attack` holds it, which tries one thing after the other.
 */
const MOST_TIMES_HONEST = 12;
/** The middle one of so many streams counts: a busy machine makes one of them longer. */
const HONEST_STREAMS = 5;

/** How often: there far over every bound, in a run of all tests just over it. */
function many(full: number, else_: number): number {
  return IS_FULL ? full : else_;
}

interface Flood {
  readonly name: string;
  orders(root: string): readonly Order[];
  /** bounds_test.ts counts it too, and another flood stands for it in a run of all tests. */
  readonly onlyFull?: boolean;
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

const STOPPED = /The engine stopped \(/;
const ENDED = (why: string) =>
  new RegExp(`The engine stopped \\(it ${why}.*\\)\\. The next message continues`);

/** An approval that no rule answers, so that all of them wait. */
const FOR_USER = { reason: "", force: false, access: { kind: "ask", about: "question", text: "Go on?" } };

const FLOODS: readonly Flood[] = [
  {
    name: "tool calls that wait",
    orders: () => [tool({ toolCallId: "#", status: "pending" }, many(300_000, 2_000))],
    says: ENDED("had more than .* open"),
  },
  {
    name: "tool calls that are done",
    onlyFull: true,
    orders: () => [tool({ toolCallId: "#", status: "completed" }, 300_000)],
    says: ENDED("sent more than .* in one turn"),
  },
  {
    name: "notices",
    onlyFull: true,
    orders: () => [update({ sessionUpdate: "notice", severity: "info", title: "note #" }, 300_000)],
    says: ENDED("sent more than .* in one turn"),
  },
  {
    name: "messages of one word",
    onlyFull: true,
    orders: () => [
      update({
        sessionUpdate: "agent_message_chunk",
        messageId: "#",
        content: { type: "text", text: "something" },
      }, 300_000),
    ],
    says: ENDED("sent more than .* in one turn"),
  },
  {
    name: "thoughts",
    onlyFull: true,
    orders: () => [
      update({
        sessionUpdate: "agent_thought_chunk",
        messageId: "#",
        content: { type: "text", text: "something" },
      }, 300_000),
    ],
    says: ENDED("had more than .* open"),
  },
  {
    name: "a text without an end, in one line",
    orders: () => [text(100_000, many(1_000, 210))],
    says: ENDED("sent more than .* characters in one turn"),
  },
  {
    name: "outputs that are large and change all the time",
    orders: () => {
      const content = [{ type: "content", content: { type: "text", text: `#${"\nline".repeat(4_000)}` } }];
      const calls = Array.from(
        { length: many(50, 20) },
        (_, id) => tool({ toolCallId: `${id}`, content, status: "in_progress" }),
      );
      return Array.from({ length: many(15, 5) }, () => calls).flat();
    },
  },
  {
    name: "a plan of very many entries, again and again",
    orders: () => {
      const entries = Array.from({ length: many(200_000, 20_000) }, (_, at) => ({
        content: `step ${at}`,
        status: "pending",
        priority: "medium",
      }));
      return Array.from({ length: many(4, 2) }, () => update({ sessionUpdate: "plan", entries }));
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
      params: { toolCall: { toolCallId: "#", title: "write #" }, options: [], _meta: { [META]: FOR_USER } },
      times: many(100_000, 400),
      unanswered: true,
    }],
    says: ENDED("asked more than .* things at once"),
  },
  {
    name: "questions about buffers",
    onlyFull: true,
    orders: (root) => [{
      method: method("unsaved_text"),
      request: true,
      params: { path: join(root, "a.txt") },
      // Neovim answers meanwhile.
      times: 100_000,
      unanswered: true,
    }],
    says: ENDED("asked more than .* things at once"),
  },
  {
    name: "files that are said to have changed, with their texts",
    onlyFull: true,
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
    name: "a file of many MB that is said to have changed",
    orders: (root) => {
      const before = "a line of text\n".repeat(many(1_000_000, 100_000));
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

/** An engine that thinks, writes and works as fast as it can, and no more of it than a turn has. */
const HONEST: readonly Order[] = Array.from({ length: 40 }, (_, part) => [
  update({
    sessionUpdate: "agent_thought_chunk",
    messageId: `t${part}`,
    content: { type: "text", text: "so it is. " },
  }, 20),
  update({
    sessionUpdate: "agent_message_chunk",
    messageId: `m${part}`,
    content: { type: "text", text: "A sentence of **ten** words, of which none is `new`.\n" },
  }, 20),
  tool({ toolCallId: `c${part}`, status: "completed" }),
]).flat();

const LAST: Order = { method: method("before_call"), request: true, params: {} };
const ANSWERED = /before_call: .*deny_read/;

interface Scene extends AsyncDisposable {
  readonly root: string;
  readonly tainted: Tainted;
}

async function openScene(): Promise<Scene> {
  await using stack = new AsyncDisposableStack();
  const { root } = stack.use(await scratch({ "package.json": "{}", "a.txt": "", "other.txt": "" }));
  const tainted = stack.use(await startTainted([], { root, columns: 100, lines: 40 }));
  const owned = stack.move();
  return { root, tainted, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

let shared: Scene | undefined;

Deno.test.afterAll(async () => {
  await shared?.[Symbol.asyncDispose]();
});

/** One turn that carries these out, until the chat's last lines match; then nothing is at work any more. */
async function turn({ nvim, order }: Tainted, orders: readonly Order[], until: RegExp): Promise<string> {
  await order(orders);
  await nvim.command("Agent go on");
  const last = () =>
    nvim.lua<string>(`return table.concat(vim.api.nvim_buf_get_lines(
    require("agent.chat").current().transcript.buffer, -20, -1, false), "\\n")`);
  let seen = "";
  await waitUntil(
    () => `the chat to end with ${until}: ${seen.slice(-500)}`,
    async () => until.test(seen = await last()),
  );
  await nvim.waitFor(`require("agent").status():find("ready$")`);
  return await last();
}

/** Milliseconds; a warm Neovim's longest frame while an honest engine streams. */
async function honestFrame(tainted: Tainted): Promise<number> {
  const { nvim } = tainted;
  await watchFrames(nvim);
  await turn(tainted, [...HONEST, LAST], ANSWERED);
  const frames: number[] = [];
  for (let left = HONEST_STREAMS; left > 0; left--) {
    await nvim.lua(`require("agent.chat").new() _G.frame = 0`);
    await turn(tainted, [...HONEST, LAST], ANSWERED);
    frames.push((await worst(nvim)).frame);
  }
  return frames.sort((a, b) => a - b)[Math.floor(HONEST_STREAMS / 2)] ?? 0;
}

async function flood({ root, tainted }: Scene, { orders, says }: Flood): Promise<void> {
  const { nvim } = tainted;
  const honest = IS_FULL ? await honestFrame(tainted) : Infinity;
  await nvim.lua(`require("agent.chat").new() _G.frame = 0`);
  const last = await turn(tainted, [...orders(root), LAST], says === undefined ? ANSWERED : STOPPED);
  if (says !== undefined) assert.match(last.split("\n").slice(-3).join("\n"), says);
  const { frame, megabytes } = await worst(nvim);
  assert.ok(
    frame < honest * MOST_TIMES_HONEST,
    `a frame took ${Math.round(frame)} ms, of an honest engine ${Math.round(honest)} ms`,
  );
  assert.ok(megabytes < MOST_MEGABYTES, `Neovim holds ${Math.round(megabytes)} MB`);
  const size = await nvim.lua<{ readonly lines: number; readonly characters: number }>(
    `local buffer = require("agent.chat").current().transcript.buffer
    local lines = vim.api.nvim_buf_line_count(buffer)
    return { lines = lines, characters = vim.api.nvim_buf_get_offset(buffer, lines) }`,
  );
  assert.ok(size.lines < MOST_LINES, `the chat has ${size.lines} lines`);
  assert.ok(size.characters < MOST_CHARACTERS, `the chat has ${size.characters} characters`);
  // The next message has an engine.
  await turn(tainted, [LAST], ANSWERED);
  await nvim.lua(`local chats = require("agent.chat"); vim.iter(chats.list()):each(chats.close)`);
}

for (const one of FLOODS.filter(({ onlyFull }) => IS_FULL || onlyFull !== true)) {
  Deno.test({
    name: `flood: ${one.name}`,
    ignore: Deno.build.os === "windows",
    async fn() {
      const scene = shared ?? await openScene();
      // After a failure, and where frames are measured, the next one has its own.
      shared = undefined;
      await using stack = new AsyncDisposableStack();
      stack.use(scene);
      await flood(scene, one);
      if (IS_FULL) return;
      shared = scene;
      stack.move();
    },
  });
}
