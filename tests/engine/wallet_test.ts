/** What a session costs to send, with the limits that `deno task bench` measures it by: bytes of requests. */
import assert from "node:assert/strict";
import { toolList } from "../../denops/agent/engine/agent/settings/offered.ts";
import { MODES } from "../../denops/agent/engine/context/modes.ts";
import { view } from "../../denops/agent/engine/context/view.ts";
import { editFormOf } from "../../denops/agent/models/families.ts";
import { wire } from "../../denops/agent/engine/llm/registry.ts";
import { TOOLS } from "../../denops/agent/engine/tools/registry.ts";
import { WIRES } from "../../denops/agent/protocol/providers.ts";
import { END_TURN, startEngine } from "../support/engine_session.ts";
import { asked } from "../support/entries.ts";

const FIRST_REQUEST = 14_000;
/** Of a tool that only an option adds, or a skill. */
const RARE_TOOL = 350;
const RARE_NEEDS: ReadonlySet<string | undefined> = new Set(["webSearch", "skills"]);
/** Beside the result itself. */
const NEW_BYTES_A_ROUND = 400;
const PREFIX_SHARE = 0.975;
const ALL_ON = { isOff: () => false, isPartOff: () => false, isAdded: () => false };

const bytes = (text: string) => new TextEncoder().encode(text).length;

Deno.test("the first request with all tools, on each wire and with each form of edits", () => {
  for (const name of WIRES) {
    for (const model of ["gpt-5.1-codex", "claude-sonnet-4-5", "qwen2.5-coder:7b"]) {
      const form = editFormOf(model);
      const facts = {
        mode: MODES.agent,
        small: false,
        form,
        thinks: true,
        hasServers: true,
        switches: ALL_ON,
      };
      const usual = TOOLS.filter(({ needs }) => !RARE_NEEDS.has(needs));
      const tools = toolList(usual, facts).map((tool) => tool.forms?.spec(form) ?? tool.spec);
      const environment = { roots: ["/home/somebody/projects/something"], os: "linux" };
      const prompt = view([asked("Rename greet to salute everywhere.")], MODES.agent, {
        environment,
        model,
        tools,
      });
      const { system, messages } = prompt;
      const request = { ...{ model, system, messages, tools }, contextWindow: 128_000 };
      const { body } = wire(name).encode(request, { baseUrl: "http://a.test", headers: {} });
      assert.ok(bytes(body) <= FIRST_REQUEST, `${name}, ${model}: ${bytes(body)} bytes`);
    }
  }
});

Deno.test("the tools that few sessions have", () => {
  const rare = TOOLS.filter(({ needs }) => RARE_NEEDS.has(needs));
  assert.equal(rare.length, 2);
  for (const { name, spec } of rare) {
    const size = bytes(JSON.stringify(spec));
    assert.ok(size <= RARE_TOOL, `${name}: ${size} bytes`);
  }
});

const LINES = "x\n".repeat(100);

/** A round of a hundred lines that are read, and one of a line that is written. */
function turn(number: number): readonly string[] {
  const edit = { path: "value.ts", old_str: `value = ${number};`, new_str: `value = ${number + 1};` };
  return [
    'call read_file {"path": "value.ts"}',
    `call edit_file ${JSON.stringify(edit)}`,
    'call read_file {"path": "lines.txt"}',
    `say Counted up to ${number + 1}.`,
  ];
}

for (const name of WIRES) {
  Deno.test(`${name}: ten turns: what is new in a round, what stays, and how often that breaks`, async () => {
    const turns = Array.from({ length: 10 }, (_, number) => turn(number));
    await using engine = await startEngine({
      wire: name,
      config: { title: false },
      files: { "value.ts": "export const value = 0;\n", "lines.txt": LINES },
      script: turns.flat().join("\n---\n"),
    });
    for (const _ of turns) assert.deepEqual(await engine.prompt("Count it up."), END_TURN);
    assert.equal(await engine.project.read("value.ts"), "export const value = 10;\n");
    const { requests, problems } = engine.server;
    assert.deepEqual(problems, [], "each request begins with the one before, turn or not");
    assert.equal(engine.session.context().broken, undefined);
    // Without the marks for the provider's cache, which move.
    const texts = requests.map(({ body }) =>
      JSON.stringify(body, (key, value) => key === "cache_control" ? undefined : value)
    );
    const results = engine.messages().flatMap((message) => message.role === "tool" ? [message.text] : []);
    const grown = bytes(texts.at(-1) ?? "") - bytes(texts[0] ?? "");
    const own = results.reduce((sum, text) => sum + bytes(JSON.stringify(text)), 0);
    const round = (grown - own) / (texts.length - 1);
    assert.ok(round <= NEW_BYTES_A_ROUND, `${round} new bytes a round beside the results`);
    const sent = texts.slice(1).reduce((sum, text) => sum + bytes(text), 0);
    const share = 1 - (grown - own) / sent;
    assert.ok(share >= PREFIX_SHARE, `${share} of what was sent was sent before, or a result`);
  });
}
