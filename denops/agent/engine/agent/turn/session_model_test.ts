/** Another model in the middle of a session: what follows it, and what stays. */
import assert from "node:assert/strict";
import { END_TURN, startEngine } from "../../../../../tests/support/engine_session.ts";
import { engineConfig } from "../../../../../tests/support/engine_config.ts";
import { EngineConfig, type ListedModel } from "../../../protocol/config.ts";
import { Memory } from "../permission/memory.ts";
import { SessionModes } from "../settings/session_modes.ts";

const WINDOW = 24_000;
const SMALL: ListedModel = {
  name: "gpt-5-mini",
  context_window: WINDOW,
  price: { input: 100, output: 1_000 },
  vision: false,
};
const FILES = Object.fromEntries(
  Array.from({ length: 20 }, (_, at) => [`f${at}.ts`, `// file ${at}\n`.padEnd(6_000, "const line = 1;\n")]),
);
const READING = [
  ...Object.keys(FILES).map((path) => `new-history\ncall read_file {"path": "${path}"}`),
  "new-history\nsay All read.",
  "new-history\nsay Going on.\nrepeat",
].join("\n---\n");

Deno.test("window, price, forms of edits and family words follow the model; what is too long for it is folded first", async () => {
  const config = { title: false, price: { input: 1, output: 10 }, max_cost_per_session: 1_000 };
  await using engine = await startEngine({ script: READING, files: FILES, config });
  const { session, server, usage, events } = engine;
  assert.deepEqual(await engine.prompt("Read all"), END_TURN);
  const long = server.requests.at(-1);
  session.modes.choose({ model: SMALL.name }, SMALL);
  assert.deepEqual(await engine.prompt("And now?"), END_TURN);
  const request = server.requests.at(-1);
  assert.deepEqual([long?.body.model, request?.body.model], ["model-1", SMALL.name]);
  const tokens = (body: unknown) => JSON.stringify(body).length / 4;
  assert.ok(tokens(long?.body) > WINDOW && tokens(request?.body) < WINDOW, `${tokens(request?.body)}`);
  assert.match(JSON.stringify(events), /Made room/);
  assert.match(JSON.stringify(request?.body.tools), /patch/i);
  assert.doesNotMatch(JSON.stringify(long?.body.tools), /"patch"/);
  const used = events.filter((event) => event.type === "usage" && event.purpose === undefined).at(-1);
  assert.equal(used?.type === "usage" && used.window, WINDOW);
  // Each with its own price: so many dollars for a million tokens of input at least.
  const costs = new Map(
    usage.report("s1").models.map(({ name, cost = 0, input }) => [name, cost / input * 1e6]),
  );
  assert.equal(Math.floor(costs.get("test/model-1") ?? 0), 1);
  assert.ok((costs.get(`test/${SMALL.name}`) ?? 0) >= 100, JSON.stringify([...costs]));
  assert.equal(JSON.stringify(events).includes("price is unknown"), false);

  session.modes.choose({ model: "nameless" }, { name: "nameless" });
  assert.deepEqual(await engine.prompt("And again?"), END_TURN);
  assert.deepEqual(await engine.prompt("And again?"), END_TURN);
  const told = events.flatMap((event) => event.type === "notice" ? [event.text] : []);
  assert.deepEqual(told.filter((text) => text.includes("unknown")), [
    "limits.max_cost_per_session does not count nameless: its price is unknown. Set its price in models.",
  ]);

  // The session that is opened again goes on with what was chosen, and with what was known of it.
  session.modes.choose({ model: SMALL.name }, SMALL);
  await session.close();
  const again = engine.again();
  assert.deepEqual(again.modes.model, SMALL);
  again.modes.choose({ model: "" });
  assert.deepEqual(await again.prompt([{ type: "text", text: "Back?" }]), END_TURN);
  assert.equal(server.requests.at(-1)?.body.model, "model-1");
  await again.close();
  assert.deepEqual(server.problems, []);
});

Deno.test("a running turn ends with its model, the next one begins with the chosen one", async () => {
  await using engine = await startEngine({
    script: 'call read_file {"path": "f1.ts"}\nwait gate\n---\nsay One.\n---\nsay Two.',
    files: FILES,
    config: { title: false },
  });
  const turn = engine.prompt("Read");
  await engine.server.reached("gate");
  engine.session.modes.choose({ model: "other" }, { name: "other" });
  engine.server.release("gate");
  await turn;
  await engine.prompt("And?");
  assert.deepEqual(engine.server.requests.map(({ body }) => body.model), ["model-1", "model-1", "other"]);
});

Deno.test("a model that was chosen of one provider is not asked for from another, and is there again with its own", () => {
  const config = (provider: string): EngineConfig => {
    const known = engineConfig("http://127.0.0.1:9");
    return EngineConfig.parse({ ...known, provider: { ...known.provider, name: provider } });
  };
  const { facts } = new Memory([]);
  const modes = new SessionModes(config("one"), facts, () => {});
  modes.choose({ model: "large" }, { name: "large", context_window: 9 });
  const stored = { ...facts, ...modes.choice };
  assert.equal(new SessionModes(config("two"), stored, () => {}).model, undefined);
  assert.deepEqual(new SessionModes(config("one"), stored, () => {}).model, {
    name: "large",
    context_window: 9,
  });
  assert.throws(
    () => modes.choose({ model: "model-2" }),
    /^ToolError: Unknown model: model-2\. Near: model-1\.$/,
  );
});
