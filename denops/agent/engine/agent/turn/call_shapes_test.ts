/** Calls as models write them, run by the real session: each does what the call does that it means, and nothing more. */
import assert from "node:assert/strict";
import fc from "fast-check";
import * as z from "../../../deps/zod.ts";
import { runs } from "../../../../../tests/support/runs.ts";
import { sample } from "../../../../../tests/support/sample.ts";
import { type CallShape, DANGEROUS, LISTED } from "../../../../../tests/support/call_shapes.ts";
import { FOUND } from "../../../../../tests/support/found_calls.ts";
import { startEngine } from "../../../../../tests/support/engine_session.ts";
import type { Script } from "../../../scripted_model/answer.ts";
import { parseScript } from "../../../scripted_model/script.ts";
import type { FileRules } from "../../../protocol/config.ts";
import { nameNow } from "../../calls/old_names.ts";
import { meantCall } from "../../tools/calls/meant_call.ts";
import { isRecord } from "../../calls/json_schema.ts";
import { callFacts } from "../gather/room.ts";
import { Grammar } from "../../llm/text_tools/grammar.ts";
import { extract } from "../../llm/text_tools/scan.ts";
import type { ClientAbilities } from "../../ports/abilities.ts";
import { defineTool } from "../../tools/define.ts";
import { TOOLS } from "../../tools/registry.ts";

const FILES = { "a.txt": "alpha\nbeta\ngamma\n", "b.txt": "beta\n", "src/x.ts": "beta\n" };

/** All that a call did: what the screen showed, what the user was asked, what others were asked, what the model read. */
interface Effect {
  readonly shown: unknown;
  readonly asked: readonly unknown[];
  readonly result: string;
}

const NONE = { deny: [], ask: [] };
/** Each write is asked about. */
const ASKS: FileRules = { safe_to_write: [{ glob: "**", safe: false }], deny_read: [], read_rules: NONE };

/** The call as it is written, which a script's text could not hold. */
function scriptOf(name: string, text: string): Script {
  const [call, done] = parseScript("call x {}\n---\nsay Done?").answers;
  assert.ok(call !== undefined && done !== undefined);
  return { name: "call", answers: [{ ...call, parts: [{ kind: "call", name, arguments: text }] }, done] };
}

/** Runs calls one after the other; the user refuses whatever is asked. */
async function startPlayer() {
  const heard: unknown[] = [];
  const report = { output: "ran", end: "exit code 0", failed: false };
  const note = <Answer>(answer: Answer) => (...request: readonly unknown[]): Promise<Answer> => {
    heard.push(request.filter((part) => !(part instanceof AbortSignal)));
    return Promise.resolve(answer);
  };
  const abilities: Omit<ClientAbilities, "mcp" | "agent" | "hooks"> = {
    commands: {
      run: note(report),
      startInBackground: note("c1"),
      output: note(report),
      stop: note(report),
      isRunning: () => false,
    },
    search: {
      grep: note({ lines: [], total: 0, more: false }),
      files: note({ paths: [], more: false }),
      changes: note({ text: "" }),
    },
    index: {
      ask: ({ question }) => note({ hits: [], notes: [] })(question),
      state: () => Promise.reject(new Error("nobody asks")),
      changed() {},
    },
    // Each call has another id.
    questions: { ask: (question, options) => note("A")(question, options) },
    languages: { ask: note({ kind: "nothing", reason: "none" } as const) },
    skills: { text: note("x"), file: () => Promise.resolve(undefined), isSeen: () => false },
    web: { read: new Map(), fetch: () => Promise.reject(new Error("nobody allows it")) },
    webSearch: { engine: "brave", search: () => Promise.reject(new Error("nobody allows it")) },
  };
  const engine = await startEngine({
    // A file is read before it is written.
    script: 'call read_files {"paths": ["a.txt", "b.txt"]}\n---\nsay Ready',
    files: FILES,
    abilities,
    fileRules: () => Promise.resolve(ASKS),
    ask({ access, diff }) {
      heard.push({ access, diff });
      return { answer: "reject" };
    },
  });
  await engine.prompt("Read them");
  const known = new Map<string, Effect>();
  return {
    async meant({ tool, args }: { readonly tool: string; readonly args: unknown }): Promise<Effect> {
      const text = JSON.stringify(args);
      const key = `${tool} ${text}`;
      const effect = known.get(key) ?? await this.play({ name: tool, text });
      known.set(key, effect);
      return effect;
    },
    async play({ name, text }: Pick<CallShape, "name" | "text">): Promise<Effect> {
      heard.length = 0;
      const from = engine.events.length;
      engine.server.play(scriptOf(name, text));
      await engine.prompt("Go");
      const start = engine.events.slice(from).find((event) => event.type === "tool_start");
      assert.ok(start !== undefined, `${name} is not shown`);
      const { id: _, ...shown } = start.call;
      return { shown, asked: [...heard], result: engine.results().at(-1) ?? "" };
    },
    [Symbol.asyncDispose]: () => engine[Symbol.asyncDispose](),
  };
}

const IGNORED = /\n\(ignored[^\n]*\)$/;

/** @returns what is wrong with it */
async function judge(
  { by, name, text, expected }: CallShape,
  player: Awaited<ReturnType<typeof startPlayer>>,
): Promise<string | undefined> {
  const { shown, asked, result } = await player.play({ name, text });
  const what = `${by}: ${name} ${text}`;
  if ("words" in expected) {
    const missing = expected.words.filter((word) => !result.includes(word));
    if (asked.length > 0) return `${what}\n  did something: ${JSON.stringify(asked)}`;
    return missing.length === 0 ? undefined : `${what}\n  does not say ${missing.join(", ")}: ${result}`;
  }
  const meant = await player.meant(expected);
  try {
    assert.deepEqual({ shown, asked, result: result.replace(IGNORED, "") }, meant);
    return undefined;
  } catch {
    return `${what}\n  did ${JSON.stringify([shown, asked, result])}\n  not ${JSON.stringify(meant)}`;
  }
}

/** Of those that are found in addition, in a run of the tests. */
const SAMPLE = 20;

const TABLES = { listed: LISTED, found: sample(FOUND, SAMPLE), dangerous: DANGEROUS };

for (const [what, shapes] of Object.entries(TABLES)) {
  Deno.test(`calls as models write them, run: ${what}`, async () => {
    await using player = await startPlayer();
    const wrong: string[] = [];
    for (const shape of shapes) {
      const problem = await judge(shape, player);
      if (problem !== undefined) wrong.push(problem);
    }
    assert.equal(wrong.length === 0 ? "" : `${wrong.length} of ${shapes.length}\n${wrong.join("\n")}`, "");
  });
}

/** The tool that is run for a call, and its arguments. */
function fitted(name: string, args: unknown) {
  const { tool, args: given } = meantCall(name, args, TOOLS);
  return { tool: tool?.name, args: isRecord(given) ? tool?.fit(given) : given };
}

Deno.test("calls as models write them mean the same in text", () => {
  const grammar = new Grammar(TOOLS.map(({ spec }) => spec));
  for (const { by, name, text, expected } of [...LISTED, ...FOUND]) {
    if (!("tool" in expected) || !text.startsWith("{")) continue;
    const written = `<tool_call>\n{"name": ${JSON.stringify(name)}, "arguments": ${text}}\n</tool_call>`;
    const [call] = extract(written, grammar).calls;
    assert.ok(call !== undefined, `${by}: ${written}`);
    const meant = fitted(name, JSON.parse(text));
    assert.equal(meant.tool, fitted(expected.tool, expected.args).tool, `${by}: ${name} ${text}`);
    assert.deepEqual(fitted(call.name, JSON.parse(call.arguments)), meant, `${by}: ${written}`);
  }
});

Deno.test("a fold knows what a call has read or written, whatever it was called", () => {
  for (const { name, text, expected } of [...LISTED, ...FOUND]) {
    if (!("tool" in expected)) continue;
    const meant = { id: "1", name: expected.tool, arguments: JSON.stringify(expected.args) };
    assert.deepEqual(callFacts({ id: "1", name, arguments: text }, TOOLS), callFacts(meant, TOOLS), name);
  }
});

Deno.test("a tool that is off is refused under every name", async () => {
  const off = ["run", "edit", "delete", "move"];
  const shapes = [...LISTED, ...FOUND].filter(({ expected }) =>
    "tool" in expected && off.includes(nameNow(expected.tool))
  );
  assert.ok(shapes.length > 40);
  const left = TOOLS.filter(({ name }) => !off.includes(name));
  for (const { name, text } of shapes) {
    const args: unknown = text.startsWith("{") ? JSON.parse(text) : text;
    assert.equal(meantCall(name, args, left).tool, undefined, name);
  }
  const names = ["bash", "Edit", "delete_path", "functions.run_terminal_command"];
  const calls = names.map((name) => `call ${name} {"command": "make", "path": "a.txt"}`);
  await using engine = await startEngine({
    script: `${calls.join("\n")}\n---\nsay Done`,
    files: FILES,
    config: { tools_off: ["run", "edit_file", "delete_file", "move"] },
  });
  await engine.prompt("Go");
  for (const [at, name] of names.entries()) {
    assert.ok(
      engine.results()[at]?.startsWith(`Not run: no tool is called "${name}".`),
      engine.results()[at],
    );
  }
});

Deno.test("a tool that is offered under a name of another agent's is the one that is run", () => {
  const own = defineTool({
    name: "grep",
    description: "Another one.",
    kind: "search",
    readOnly: true,
    schema: z.object({ pattern: z.string() }),
    title: () => "grep",
    prepare: () => Promise.reject(new Error("never run")),
  });
  const { tool, args } = meantCall("grep", { pattern: "x" }, [...TOOLS, own]);
  assert.equal(tool, own);
  assert.deepEqual(args, { pattern: "x" });
});

Deno.test("whatever a model writes is fitted without an error, and once is enough", () => {
  const shapes = [...LISTED, ...FOUND, ...DANGEROUS];
  const keys = [
    ...new Set(shapes.flatMap(({ text }) => [...text.matchAll(/"(\w+)":/g)].map(([, key = ""]) => key))),
  ];
  const names = fc.constantFrom(...TOOLS.map(({ name }) => name), ...shapes.map(({ name }) => name));
  const key = fc.oneof(fc.constantFrom(...keys, "__proto__", "constructor", "toString"), fc.string());
  const args = fc.dictionary(
    key,
    fc.oneof(fc.jsonValue({ maxDepth: 3 }), fc.constantFrom(...shapes.map(({ text }) => text))),
  );
  fc.assert(
    fc.property(names, fc.oneof(args, fc.jsonValue()), (name, value) => {
      const { tool, args } = meantCall(name, value, TOOLS);
      if (tool === undefined || !isRecord(args)) return;
      const once = tool.fit(args);
      tool.title(args);
      assert.deepEqual(tool.fit(once), once);
    }),
    runs(2_000),
  );
});
