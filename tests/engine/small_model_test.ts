/** What a small model is sent: little, and of that what it needs. */
import assert from "node:assert/strict";
import { MARK } from "../../denops/agent/engine/context/project.ts";
import type { ModelConfig } from "../../denops/agent/protocol/config.ts";
import type { ClientAbilities } from "../../denops/agent/engine/ports/abilities.ts";
import { isObject, objects } from "../model/model_messages.ts";
import { END_TURN, type EngineOptions, startEngine } from "../support/engine_session.ts";
import { expectRecorded, yaml } from "../support/recorded.ts";

const never = () => Promise.reject(new Error("nobody asks"));

/** All that a client can do, so that every tool is offered. */
const ABILITIES: Omit<ClientAbilities, "mcp" | "agent" | "hooks"> = {
  commands: { run: never, startInBackground: never, output: never, stop: never, isRunning: () => false },
  search: { grep: never, files: never, changes: never },
  index: { ask: never, state: never, changed() {} },
  questions: { ask: never },
  languages: { ask: () => Promise.resolve({ kind: "nothing", reason: "nobody" }) },
  skills: { text: never, file: never, isSeen: () => false },
  web: { read: new Map(), fetch: never },
  webSearch: { engine: "brave", search: () => Promise.reject(new Error("no")) },
};

const FILES = { "src/greet.ts": 'export const greeting = "Hello";\n', "AGENTS.md": "Use tabs.\n" };

/** The names of the tools of its first request, and that request's length. */
async function firstRequest(config: Partial<ModelConfig>, more: Partial<EngineOptions> = {}) {
  await using engine = await startEngine({
    ...{ wire: "ollama", script: "say Hello.", files: FILES, abilities: ABILITIES },
    ...{ config: { title: false, ...config }, ...more },
  });
  assert.deepEqual(await engine.prompt("Make it more polite."), END_TURN);
  assert.deepEqual(engine.server.problems, []);
  const body = engine.server.requests[0]?.body ?? {};
  const named = objects(body.tools).flatMap((tool) => isObject(tool.function) ? [tool.function] : []);
  return {
    body,
    tools: named.map(({ name }) => String(name)),
    length: JSON.stringify(body).length,
    root: engine.project.root,
  };
}

const MODEL = "qwen2.5-coder:7b";

Deno.test("the first request of a model with 7 billion parameters, with every tool that it gets", async () => {
  const { body, tools, length, root } = await firstRequest({ model: MODEL });
  assert.ok(length < 8_000, `${length} characters`);
  assert.ok(tools.length <= 12, tools.join(" "));
  const text = yaml(body).replaceAll(root, "/project").replaceAll(MARK, "MARK")
    .replace(/Date: \d{4}-\d\d-\d\d/g, "Date: DATE");
  await expectRecorded("small_model", `${text}\n`);
});

Deno.test("who is told less: few parameters, or a small window, whoever says so", async () => {
  const all = (await firstRequest({ model: "qwen3:32b" })).tools;
  assert.ok(all.length > 14, all.join(" "));
  const few = (await firstRequest({ model: MODEL })).tools;
  assert.deepEqual(few.filter((name) => !all.includes(name)), []);
  assert.deepEqual((await firstRequest({ model: "qwen3:32b", context_window: 16_384 })).tools, few);
  assert.deepEqual((await firstRequest({ model: "qwen3:32b", context_window: 16_385 })).tools, all);
});

Deno.test("a small model hears of its last three steps, with the results; others do not", async () => {
  const heard = async (model: string) => {
    const reading = Array.from(
      { length: 5 },
      (_, at) => `call read_file {"path": "src/greet.ts", "limit": ${at + 1}}`,
    );
    await using engine = await startEngine({
      files: FILES,
      script: [...reading, "say It greets?"].join("\n---\n"),
      config: { title: false, model, max_iterations: 6 },
    });
    assert.deepEqual(await engine.prompt("What is greet.ts?"), END_TURN);
    assert.deepEqual(engine.server.problems, []);
    return engine.server.requests.map(({ text }) =>
      /\[(\d) steps? (?:is|are) left in this turn/.exec(text)?.[1] ?? ""
    );
  };
  assert.deepEqual(await heard(MODEL), ["", "", "", "3", "2", "1"]);
  assert.deepEqual(await heard("gpt-5"), ["", "", "", "", "", ""]);
});

Deno.test("what the user switches off is off", async () => {
  const { tools } = await firstRequest({ model: MODEL, tools_off: ["write_file", "find_files", "search"] });
  const off = ["write", "search"];
  assert.ok(tools.includes("edit") && !off.some((name) => tools.includes(name)), tools.join(" "));
});

Deno.test("a session that begins in a mode that names a tool has it, and no mode has less than the others", async () => {
  const mode = { name: "mine", description: "", base: "agent", access: "write", text: "" } as const;
  const modes = [{ ...mode, tools: ["read_file", "run_subagent"] }, {
    ...mode,
    name: "less",
    tools: ["!execute"],
  }];
  const named = await firstRequest({ model: MODEL, modes, mode: "mine" });
  const { tools } = await firstRequest({ model: MODEL });
  assert.deepEqual(named.tools, [...tools.slice(0, -1), "subagent", ...tools.slice(-1)]);
  const without = await firstRequest({ model: MODEL, modes, mode: "less" });
  assert.deepEqual(without.tools, tools);
});

const TWO_READS =
  'call read_file {"path": "AGENTS.md"}\ncall read_file {"path": "src/greet.ts"}\n---\nsay Read.';

Deno.test("a model that takes one call in a message has each with its result, and both were run", async () => {
  await using engine = await startEngine({
    ...{ script: TWO_READS.replace("---\n", "---\nnew-history\n"), files: FILES },
    config: { title: false, model: "llama3.1:8b" },
  });
  assert.deepEqual(await engine.prompt("Read both."), END_TURN);
  const sent = objects(engine.server.requests[1]?.body.messages).slice(2);
  assert.deepEqual(
    sent.map(({ role, tool_calls: calls }) => calls === undefined ? role : objects(calls).length),
    [
      ...[1, "tool", 1, "tool"],
    ],
  );
  assert.equal(engine.results().length, 2);
});

Deno.test("a template that refuses two calls in a message gets them one by one, and the turn goes on", async () => {
  const refusal = 'new-history\nstatus 500 {"error": {"code": 500, "type": "server_error", "message": ' +
    '"This model only supports single tool-calls at once! at row 27, column 76"}}';
  const [reads] = TWO_READS.split("---\n");
  await using engine = await startEngine({
    ...{
      script: `${reads}---\n${refusal}\n---\nnew-history\nsay Read.`,
      files: FILES,
      config: { title: false },
    },
  });
  assert.deepEqual(await engine.prompt("Read both."), END_TURN);
  assert.equal(engine.server.requests.length, 3);
  const roles = objects(engine.server.requests[2]?.body.messages).slice(2).map(({ role }) => role);
  assert.deepEqual(roles, ["assistant", "tool", "assistant", "tool"]);
});

Deno.test("a small model's result takes a quarter of its window at most", async () => {
  await using engine = await startEngine({
    script: 'call read_file {"path": "big.txt"}\n---\nsay Done.',
    files: { "big.txt": "1234567 9\n".repeat(4_000) },
    config: { title: false, context_window: 8_000 },
  });
  assert.deepEqual(await engine.prompt("Read"), END_TURN);
  const [result = ""] = engine.results();
  assert.match(result, /characters left out: the window has no more room/);
  assert.ok(result.length <= 8_000 * 3 / 4 + 100, `${result.length}`);
});
