/** AGENT_TRACE: where the time of a turn went, from three processes on one clock. */
import assert from "node:assert/strict";
import { PLUGIN, startAgent } from "../support/agent.ts";
import { ChildNvim } from "../support/nvim.ts";
import { scratch, waitUntil } from "../support/project.ts";

interface Event {
  readonly name: string;
  readonly ph: string;
  readonly ts: number;
  readonly dur: number;
  readonly pid: number;
  readonly args?: { readonly name: string };
}

const SPANS = {
  Neovim: ["key", "draw", "paint"],
  supervisor: ["connect", "update", "deliver"],
  engine: [
    "request",
    "first byte",
    "rules",
    "prepare",
    "decide",
    "wait",
    "run",
    "checkpoint",
    "append",
    "notify",
  ],
};

async function readTrace(path: string): Promise<readonly Event[] | undefined> {
  const text = await Deno.readTextFile(path);
  return text.endsWith(",\n") ? JSON.parse(`${text.slice(0, -2)}]`) : undefined;
}

Deno.test("a turn with a call leaves its spans, of three processes, in the order in which they were", async () => {
  await using folder = await scratch();
  const path = folder.path("trace.json");
  const change = { path: "src/greet.ts", old_str: "Hello", new_str: "Bye" };
  await using agent = await startAgent({
    script: `call read_file {"path": "src/greet.ts"}\n---\ncall edit_file ${
      JSON.stringify(change)
    }\n---\nsay Done.`,
    options: `files = { safe_to_write = { { "**/*", false } } }, sessions = { title = false }`,
    env: { AGENT_TRACE: path },
  });
  await agent.nvim.command("Agent hello");
  await agent.nvim.waitForScreen("a once");
  await agent.nvim.command("Agent approve");
  await agent.nvim.waitForScreen("Done.");
  let missing: readonly string[] = [];
  const spans = await waitUntil(() => `the spans ${missing.join(", ")}`, async () => {
    const events = await readTrace(path) ?? [];
    const names = new Map(events.flatMap(({ name, pid, args }) => {
      return name === "process_name" ? [[pid, args?.name ?? ""]] : [];
    }));
    const spans = events.filter(({ ph }) => ph === "X")
      .map(({ name, ts, dur, pid }) => ({ name, of: names.get(pid), from: ts, to: ts + dur }));
    const isThere = (of: string, name: string) => spans.some((span) => span.of === of && span.name === name);
    missing = Object.entries(SPANS).flatMap(([of, wanted]) => wanted.filter((name) => !isThere(of, name)));
    // Of the edit's call, too, and what was drawn after the approval.
    const runs = spans.filter(({ name }) => name === "run");
    const approved = spans.find(({ name }) => name === "wait")?.to ?? Infinity;
    const isDrawn = spans.some(({ name, from }) => name === "paint" && from >= approved);
    return missing.length === 0 && runs.length > 1 && isDrawn && spans;
  });
  const first = (name: string) => {
    const found = spans.filter((span) => span.name === name).sort((a, b) => a.from - b.from)[0];
    return found ?? assert.fail(name);
  };
  const last = (name: string) => {
    return spans.filter((span) => span.name === name).sort((a, b) => b.from - a.from)[0] ?? assert.fail(name);
  };
  // The read asks nobody; the edit waits.
  const begun = [
    ...["key", "connect", "request", "prepare", "decide", "run", "wait"].map(first),
    last("run"),
  ];
  const order = begun.map(({ from }) => from);
  assert.deepEqual(order, order.toSorted((a, b) => a - b));
  assert.ok(first("first byte").to <= first("prepare").from);
  assert.ok(first("wait").to <= first("checkpoint").from);
  assert.ok(spans.every(({ from, to }) => to >= from));
});

Deno.test("without AGENT_TRACE nothing is measured", async () => {
  await using nvim = await ChildNvim.start({ runtime: [PLUGIN] });
  assert.equal(await nvim.lua(`return next(require("agent.trace")) == nil`), true);
});
