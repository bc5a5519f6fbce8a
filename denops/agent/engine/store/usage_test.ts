/** The table of usage: what was recorded is what is shown. */
import assert from "node:assert/strict";
import { startEngine } from "../../../../tests/support/engine_session.ts";
import { asked } from "../../../../tests/support/entries.ts";
import { engineConfig } from "../../../../tests/support/engine_config.ts";
import { serve } from "../../../../tests/support/model_client.ts";
import { events } from "../../../../tests/support/wire_play.ts";
import { WIRES } from "../../protocol/providers.ts";
import type { RequestUsage, UsageReport } from "../ports/usage.ts";
import { Database } from "./database.ts";
import { SqliteStore } from "./sqlite.ts";
import { SqliteUsage } from "./usage.ts";

const request: RequestUsage = {
  purpose: "agent",
  provider: "test",
  model: "model-1",
  usage: { input: 100, output: 10, cachedRead: 40, cachedWrite: 20 },
  duration: 900,
  tools: {},
  invalidCalls: 0,
  offered: 29,
};

/** YYYY-MM-DD in the time zone of this process. */
function localDay(time: Date): string {
  const parts = [time.getFullYear(), time.getMonth() + 1, time.getDate()];
  return parts.map((part) => String(part).padStart(2, "0")).join("-");
}

function opened(...sessions: readonly string[]) {
  const database = Database.inMemory();
  const store = new SqliteStore(database);
  for (const id of sessions) store.createSession({ id, root: "/p", model: "model-1" });
  return { database, store, usage: new SqliteUsage(database) };
}

Deno.test("sums by turn, session, day and model, the newest first", () => {
  const { database, store, usage } = opened("a", "b");
  using _ = database;
  store.append("a", { entries: [asked("First line\nsecond line")] });
  usage.record("a", 1, { ...request, cost: 0.25, firstToken: 300, tools: { read_file: 2, edit_file: 1 } });
  usage.record("a", 1, {
    ...request,
    cost: 0.5,
    firstToken: 100,
    tools: { read_file: 1 },
    invalidCalls: 1,
    prompt: { build: 3, ready: 40, messages: 5 },
  });
  const prompt = { build: 1, ready: 20, messages: 3 };
  usage.record("a", 1, { ...request, firstToken: 600, prompt });
  store.append("a", { entries: [asked("x".repeat(5_000))] });
  usage.record("a", 2, { ...request, purpose: "summary", firstToken: 200 });
  store.append("b", { entries: [asked("Other")] });
  usage.record("b", 1, { ...request, model: "model-2", provider: "other" });
  database.run("UPDATE usage SET time = ?", Date.now());

  const { turns, sessions, days, models } = usage.report("a");
  assert.deepEqual(turns, [
    {
      name: "x".repeat(200),
      requests: 1,
      unreported: 0,
      input: 100,
      output: 10,
      cachedRead: 40,
      cachedWrite: 20,
      firstToken: 200,
      tools: [],
      invalid: 0,
      turns: 1,
      messages: 0,
      offered: 29,
      modes: ["summary"],
      speed: 10_000 / 700,
      copied: 0,
      applied: 0,
    },
    {
      name: "First line",
      requests: 3,
      unreported: 0,
      input: 300,
      output: 30,
      cachedRead: 120,
      cachedWrite: 60,
      cost: 0.75,
      firstToken: 300,
      tools: [{ name: "edit", count: 1 }, { name: "read", count: 3 }],
      invalid: 1,
      turns: 1,
      messages: 5,
      offered: 29,
      modes: ["agent"],
      prompt: { build: 2, ready: 30 },
      time: 940,
      speed: 30_000 / 1_700,
      copied: 0,
      applied: 0,
    },
  ]);
  const short = (rows: UsageReport["turns"]) =>
    rows.map(({ name, requests, cost }) => [name, requests, cost]);
  assert.deepEqual(short(sessions), [["Other", 1, undefined], ["First line", 4, 0.75]]);
  assert.deepEqual(short(days), [[localDay(new Date()), 5, 0.75]]);
  assert.deepEqual(short(models), [["other/model-2", 1, undefined], ["test/model-1", 4, 0.75]]);
  assert.equal(sessions[1]?.firstToken, 250, "the median of 100, 200, 300 and 600");
  assert.deepEqual([usage.cost("a"), usage.cost("b")], [0.75, undefined]);
  assert.deepEqual(usage.report(undefined).turns, []);
});

Deno.test("times: of turns, of their requests and of answers; a session's time is that of its turns", () => {
  const { database, usage } = opened("a");
  using _ = database;
  const prompt = { build: 1, ready: 100, messages: 1 };
  /** A request that ends at this second. */
  const recordAt = (turn: number, end: number, seconds: number, more: Partial<RequestUsage> = {}) => {
    usage.record("a", turn, { ...request, duration: seconds * 1_000, prompt, ...more });
    database.run("UPDATE usage SET time = ? WHERE id = (SELECT max(id) FROM usage)", end * 1_000);
  };
  // Turn 1 has two steps, and runs a sub-agent that goes on for longer. Its title comes later.
  recordAt(1, 10, 2, { firstToken: 1_000, usage: { input: 1, output: 50, cachedRead: 0, cachedWrite: 0 } });
  recordAt(1, 90, 4, { agent: "child" });
  recordAt(1, 30, 6);
  usage.record("a", 1, { ...request, purpose: "title" });
  for (let turn = 2; turn <= 10; turn += 1) recordAt(turn, 100 * turn, turn);
  // All at once: it says nothing about the speed.
  recordAt(11, 2_000, 1, { firstToken: 950 });

  const { turns, sessions, agents, models } = usage.report("a");
  assert.equal(turns.at(-1)?.time, 30_000 - 10_000 + 2_000 + 100);
  const ends = [22_100, ...[2, 3, 4, 5, 6, 7, 8, 9, 10, 1].map((seconds) => seconds * 1_000 + 100)];
  assert.equal(sessions[0]?.time, ends.reduce((sum, one) => sum + one));
  assert.deepEqual(models[0]?.turnTimes, { median: 6_100, most: 10_100 });
  assert.deepEqual(models[0]?.requestTimes, { median: 5_000, most: 9_000 });
  assert.deepEqual([models[0]?.speed, agents[0]?.time], [50, 4_100]);
});

Deno.test("code blocks that the user copies and applies count for their turn and its model; edits in place are applied", () => {
  const { database, usage } = opened("a");
  using _ = database;
  const prompt = { build: 1, ready: 1, messages: 1 };
  usage.record("a", 1, { ...request, prompt });
  usage.record("a", 1, { ...request, model: "child", agent: "b", prompt });
  usage.record("a", 2, { ...request, purpose: "edit" });
  for (const use of ["copied", "copied", "applied"] as const) usage.used("a", 1, use);
  const edit = { call: "c", provider: "test", model: "model-1", form: "whole", files: [] };
  usage.edits.tried("a", 1, { ...edit, written: true });
  usage.edits.tried("a", 2, { ...edit, written: false });
  usage.edits.tried("a", 2, { ...edit, written: true });
  // Of a turn that another session has asked the model.
  usage.used("a", 9, "copied");
  const { turns, sessions, models, days } = usage.report("a");
  const counts = (rows: UsageReport["turns"]) => rows.map(({ copied, applied }) => [copied, applied]);
  assert.deepEqual(counts(turns), [[0, 1], [2, 1]]);
  assert.deepEqual([counts(sessions), counts(days)], [[[3, 2]], [[3, 2]]]);
  assert.deepEqual(models.map(({ name, copied, applied }) => [name, copied, applied]), [
    ["test/model-1", 2, 2],
    ["test/child", 0, 0],
  ]);
});

Deno.test("days are told apart, and what a deleted session has cost stays", () => {
  const { database, usage } = opened("a");
  using _ = database;
  usage.record("a", 1, { ...request, cost: 1 });
  database.run("UPDATE usage SET time = ?", new Date(2026, 0, 31, 23, 59, 59).getTime());
  usage.record("a", 1, { ...request, cost: 2 });
  database.run("DELETE FROM sessions");
  const { days, sessions } = usage.report(undefined);
  assert.deepEqual(days.map(({ name, cost }) => [name, cost]), [
    [localDay(new Date()), 2],
    ["2026-01-31", 1],
  ]);
  assert.deepEqual(sessions.map(({ name, cost }) => [name, cost]), [["(deleted)", 3]]);
});

Deno.test("by day and model, the newest 30 days with requests", () => {
  const { database, usage } = opened("a");
  using _ = database;
  const recordOn = (day: number, more: Partial<RequestUsage>) => {
    usage.record("a", 1, { ...request, ...more });
    const time = new Date(2026, 2, day, 0, 0, 1).getTime();
    database.run("UPDATE usage SET time = ? WHERE id = (SELECT max(id) FROM usage)", time);
  };
  recordOn(30, { cost: 1 });
  recordOn(30, { cost: 0.5 });
  recordOn(30, { model: "通义千问" });
  recordOn(30, { model: "通义千问", cost: 0.5 });
  const { usage: _tokens, ...unreported } = request;
  usage.record("a", 1, unreported);
  database.run(
    "UPDATE usage SET time = ?, model = 'model-3' WHERE reported = 0",
    new Date(2026, 2, 30, 23, 59, 59).getTime(),
  );
  for (let back = 1; back < 400; back += 1) recordOn(30 - back, { cost: 2 });

  const { daily } = usage.report(undefined);
  assert.deepEqual(daily.slice(0, 4), [
    { day: "2026-03-30", model: "test/model-1", input: 200, cachedRead: 80, output: 20, cost: 1.5 },
    // Nothing was reported that could have a price.
    { day: "2026-03-30", model: "test/model-3", input: 0, cachedRead: 0, output: 0, cost: 0 },
    { day: "2026-03-30", model: "test/通义千问", input: 200, cachedRead: 80, output: 20 },
    { day: "2026-03-29", model: "test/model-1", input: 100, cachedRead: 40, output: 10, cost: 2 },
  ]);
  assert.deepEqual([daily.length, daily.at(-1)?.day], [32, "2026-03-01"]);
});

const read = 'call read_file {"path": "a.txt"}';

for (const wire of WIRES) {
  Deno.test(`${wire}: every request is written down before it is told, with its calls and its time`, async () => {
    const costs: (number | undefined)[] = [];
    await using engine = await startEngine({
      wire,
      files: { "a.txt": "alpha\n" },
      config: { title: false, price: { input: 1, output: 10, cached_read: 0.5 } },
      script: [
        `slow 30\n${read}\ncall move_file {}\ncall fly_to_moon {"by": "rocket"}\nrawcall edit_file {"path": broken\nusage 1000 100 400`,
        "say Done?\nusage 2000 50",
      ].join("\n---\n"),
      publish: (event) => void (event.type === "usage" && costs.push(engine.usage.cost("s1"))),
    });
    await engine.prompt("Go");
    const told = engine.events.flatMap((event) => event.type === "usage" ? [event] : []);
    const cached = wire === "ollama" ? 0 : 400;
    const first = (1000 - cached + cached / 2 + 1000) / 1e6;
    assert.deepEqual(told.map(({ cost }) => cost), [first, 0.0025]);
    assert.deepEqual(told.map(({ sessionCost }) => sessionCost), [first, first + 0.0025]);
    assert.deepEqual(costs, [first, first + 0.0025]);
    const [turn] = engine.usage.report("s1").turns;
    assert.deepEqual(
      turn?.tools,
      ["(unknown)", "edit", "move", "read"].map((name) => ({ name, count: 1 })),
    );
    // Ollama's calls have arguments that are parsed already, or none.
    assert.equal(turn?.invalid, wire === "ollama" ? turn?.invalid : 3);
    assert.deepEqual([turn?.requests, turn?.input, turn?.output, turn?.cachedRead], [2, 3000, 150, cached]);
    assert.ok((turn?.firstToken ?? -1) >= 0);
  });
}

Deno.test("a provider that tells no tokens: the request counts, its tokens are not made up", async () => {
  await using server = serve(async (http) => {
    await http.begin(200, { connection: "close" });
    await http.write(events({ choices: [{ delta: { content: "Done" }, finish_reason: "stop" }] }, "[DONE]"));
    await http.end();
  });
  const { provider } = engineConfig(server.url);
  await using engine = await startEngine({
    script: "",
    config: { title: false, provider, price: { input: 1, output: 1 } },
  });
  await engine.prompt("Go?");
  const [row] = engine.usage.report("s1").models;
  assert.deepEqual([row?.requests, row?.unreported, row?.input, row?.cost], [1, 1, 0, undefined]);
});

Deno.test("a request that was stopped or failed counts where the provider said what it took", async () => {
  await using engine = await startEngine({
    wire: "anthropic_messages",
    config: { title: false },
    script:
      "usage 500 7\nsay Half\nerror Sorry\n---\nusage 600 7\nslow 1\nflood 3\nwait never\n---\nstatus 401",
    publish: (event) =>
      void (event.type === "token" && event.text.includes("word3") && engine.session.cancel()),
  });
  await engine.prompt("One");
  await engine.prompt("Two");
  await engine.prompt("Three");
  const { turns } = engine.usage.report("s1");
  assert.deepEqual(turns.map(({ name, requests, input }) => [name, requests, input]), [
    ["Two", 1, 600],
    ["One", 1, 500],
  ]);
});

Deno.test("the request for a title counts, for the turn that it is about, and is told apart", async () => {
  await using engine = await startEngine({
    config: { title: true, price: { input: 1, output: 0 } },
    script: "say Done.\nusage 1000 10\n---\nsay More.\nusage 2000 10",
  });
  await engine.prompt("Go?");
  await engine.prompt("On?");
  await engine.session.close();
  const [second, first] = engine.usage.report("s1").turns;
  assert.deepEqual([first?.requests, second?.requests], [2, 1]);
  const told = engine.events.flatMap((event) => event.type === "usage" ? [event] : []);
  assert.equal(told.filter(({ purpose }) => purpose === "title").length, 1);
  const sum = told.reduce((all, { cost }) => all + (cost ?? 0), 0);
  assert.ok(Math.abs((engine.usage.cost("s1") ?? 0) - sum) < 1e-12);
  assert.ok(Math.abs((told.at(-1)?.sessionCost ?? 0) - sum) < 1e-12);
});
