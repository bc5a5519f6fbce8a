/** What models are sent: recorded, small, and each request a prefix of the next. */
import assert from "node:assert/strict";
import fc from "fast-check";
import { MARK } from "../../denops/agent/engine/context/project.ts";
import { refusalOf } from "../../denops/agent/engine/agent/settings/offered.ts";
import { CHOSEN, type Mode, MODES } from "../../denops/agent/engine/context/modes.ts";
import { AGENT_SECTIONS } from "../../denops/agent/engine/context/sections.ts";
import { modeText, systemParts, view, type ViewInputs } from "../../denops/agent/engine/context/view.ts";
import type { MessageEntry } from "../../denops/agent/engine/log/entries.ts";
import { isOneByOne } from "../../denops/agent/models/families.ts";
import { wire } from "../../denops/agent/engine/llm/registry.ts";
import { TOOLS } from "../../denops/agent/engine/tools/registry.ts";
import { WIRES } from "../../denops/agent/protocol/providers.ts";
import type { Shown, Surroundings } from "../../denops/agent/protocol/surroundings.ts";
import { checkPrefix } from "../model/model_checks.ts";
import { isObject, transcript } from "../model/model_messages.ts";
import { startEngine } from "../support/engine_session.ts";
import { expectRecorded, recorded, yaml } from "../support/recorded.ts";

const FILES = {
  "AGENTS.md": "Use tabs. See @docs/style.md.\n",
  "docs/style.md": "Short names.\n",
  "src/AGENTS.md": "Export nothing by default.\n",
  "src/greet.ts": 'export const greeting = "Hello";\n',
  "package.json": '{"scripts": {"test": "node --test"}}\n',
};

const SURROUNDINGS: Surroundings = {
  files: { paths: Object.keys(FILES), more: false, rules: ["AGENTS.md", "src/AGENTS.md"] },
  rules: "Answer in English.\n",
  git: { branch: "main", status: { changed: ["M src/greet.ts"], more: 0 } },
};

const SHOWN: Shown = {
  current: { path: "src/greet.ts", line: 1, modified: false },
  buffers: [{ path: "src/greet.ts", modified: false }],
  errors: 0,
  warnings: 0,
};

const SCRIPT = [
  'say I look at it.\ncall read {"path": "src/greet.ts"}',
  'call edit {"path": "src/greet.ts", "old_str": "Hello", "new_str": "Good day"}',
  "say Done: `src/greet.ts:1` says **Good day**.",
  "say I see.",
].join("\n---\n");

for (const name of WIRES) {
  Deno.test(`${name}: a small session, as it is sent`, async () => {
    await using engine = await startEngine({
      wire: name,
      script: SCRIPT,
      files: FILES,
      config: { title: false, model: "qwen3:32b" },
      surroundings: { ask: () => Promise.resolve(SURROUNDINGS) },
    });
    const text = "Make it more polite.";
    await engine.session.prompt([{ type: "text", text }], { view: SHOWN });
    await Deno.writeTextFile(
      engine.project.path("src/greet.ts"),
      'export const greeting = "Good evening";\n',
    );
    await engine.prompt("I have changed it.");
    assert.deepEqual(engine.server.problems, []);
    const { requests } = engine.server;
    const sent = recorded(requests.map(({ body }) => body))
      .replaceAll(engine.project.root, "/project")
      .replaceAll(MARK, "MARK")
      .replace(/Date: \d{4}-\d\d-\d\d/g, "Date: DATE");
    await expectRecorded(name, sent);
  });
}

Deno.test("two roots, and rules for some files only: the names that models are told", async () => {
  const files = {
    "app/AGENTS.md": "Of the project.\n",
    "app/.github/instructions/ts.instructions.md":
      '---\napplyTo: "lib/**/*.ts,src/*.ts"\n---\nTypes for both.\n',
    "app/src/a.ts": "1\n",
    "lib/AGENTS.md": "Of the other root.\n",
    "lib/.github/instructions/all.instructions.md": '---\napplyTo: "**"\n---\nFor all files.\n',
    "lib/deep/AGENTS.md": "Deep in the other root.\n",
    "lib/deep/b.ts": "2\n",
  };
  const rules = [
    ...[
      ".github/instructions/ts.instructions.md",
      "AGENTS.md",
      "lib/.github/instructions/all.instructions.md",
    ],
    ...["lib/AGENTS.md", "lib/deep/AGENTS.md"],
  ];
  const paths = [...rules, "src/a.ts", "lib/deep/b.ts"];
  const script =
    'call read_file {"path": "lib/deep/b.ts"}\n---\ncall read_file {"path": "src/a.ts"}\n---\nsay Read.';
  await using engine = await startEngine({
    ...{ script, files, folders: ["app", "lib"], config: { title: false, model: "gpt-5" } },
    surroundings: { ask: () => Promise.resolve({ files: { paths, more: false, rules } }) },
  });
  await engine.prompt("Read both.");
  assert.deepEqual(engine.server.problems, []);
  const sent = recorded(engine.server.requests.map(({ body }) => body))
    .replaceAll(engine.project.root, "/workspace")
    .replaceAll(MARK, "MARK")
    .replace(/Date: \d{4}-\d\d-\d\d/g, "Date: DATE");
  // What is the same in every session stands in the other files.
  await expectRecorded("two_roots", sent.replace(/You are a coding agent[^]*?(?=\n +<rules_)/, "…"));
});

Deno.test("neither an import nor a mention hands over a file of git", async () => {
  const files = {
    ...FILES,
    "AGENTS.md": "Use tabs. See @src/../.git/config, @.git/config and @docs/style.md.\n",
    ".git/config": "[remote]\nurl = https://TOKEN@example.invalid\n",
  };
  await using engine = await startEngine({
    ...{ script: "say Done.", files, config: { title: false } },
    surroundings: { ask: () => Promise.resolve(SURROUNDINGS) },
  });
  await engine.prompt("Look at @.git/config and @src/../.git/config");
  const sent = JSON.stringify(engine.server.requests.map(({ body }) => body));
  assert.ok(sent.includes("Short names."), "other imports are told");
  assert.ok(!sent.includes("TOKEN"), sent);
});

Deno.test("the tools, as models are told of them", async () => {
  await expectRecorded("tools", yaml(TOOLS.map(({ spec }) => spec)) + "\n");
  const forms = ["whole", "patch"] as const;
  const specs = forms.flatMap((offered) => TOOLS.flatMap((tool) => tool.forms?.spec(offered) ?? []));
  await expectRecorded("edit_forms", yaml(specs) + "\n");
});

/** What a prompt is made of beside the project. */
const PLAIN = { environment: { roots: ["/p"], os: "linux", sandboxed: true }, tools: [] };

/** A model of each family. */
const FAMILIES = [
  ...["claude-sonnet-4-5", "gpt-5", "gemini-3-pro", "deepseek-chat", "qwen3:32b", "llama-3.3-70b"],
  ...["mistral-large", "other"],
];

/** Sections that differ from those of a model of no family. */
function ownSections(mode: Mode, more: Partial<ViewInputs>): string {
  const sections = [...mode.sections, ...mode.messageSections ?? []];
  const common = systemParts(sections, PLAIN).map(({ text }) => text);
  return systemParts(sections, { ...PLAIN, ...more }).map(({ text }) => text)
    .filter((text) => !common.includes(text)).join("\n\n");
}

Deno.test("the prompt, section by section: of all modes, families and models", async () => {
  const parts = systemParts(AGENT_SECTIONS, PLAIN).map(({ name, text }) => `==== ${name}\n${text}`);
  const small = systemParts(AGENT_SECTIONS, { ...PLAIN, small: true }).map(({ text }) => text).join("\n\n");
  const one = ownSections(MODES.agent, { oneByOne: true });
  const families = FAMILIES.map((model) =>
    `==== family of ${model}, in mode agent\n${ownSections(MODES.agent, { model })}`
  );
  const others = Object.values(CHOSEN).map((mode) =>
    `==== sub-agent in mode ${mode.name}\n${ownSections(mode, { isSubagent: true })}`
  );
  const sections = [
    ...parts,
    `==== small model\n${small}`,
    `==== model that makes one call after the other\n${one}`,
    ...families,
    ...others,
  ];
  await expectRecorded("prompt", sections.join("\n\n").replaceAll(MARK, "MARK") + "\n");
});

Deno.test("modes: what the model is told of each, and the tools that it refuses", async () => {
  const shown = Object.values(CHOSEN).map((mode) => {
    const off = TOOLS.filter((tool) => refusalOf(tool, {}, mode, TOOLS, { isPartOff: () => false }));
    const names = off.length === 0 ? "none" : off.map(({ name }) => name).join(", ");
    const refused = off.length === TOOLS.length ? "all" : names;
    return `${mode.name} (${mode.access}; refuses ${refused})\n${modeText(mode, PLAIN)}`;
  });
  await expectRecorded("modes", shown.join("\n\n").replaceAll(MARK, "MARK") + "\n");
});

/** No prompt may say both. */
const CONTRADICTIONS: readonly (readonly [RegExp, RegExp])[] = [
  [/Carry out|carry it out/, /Change nothing|You have no tools/],
  [/never show code/, /Change nothing|You have no tools/],
  [/Continue (?:until|with tool calls)/, /Change nothing|You have no tools/],
  [/smallest change/, /Change nothing/],
  [/edit tools/, /Change nothing/],
  [/Do not stop to report a plan/, /The user starts the plan with|nothing is carried out/],
  [/few short lines/, /Complexity:|four passes|findings|Your answer goes to the agent/],
  [/wrong guess would cost work, ask/, /You cannot ask anyone|Not verified/],
  [/in one answer/, /Make one call in an answer/],
  [/as few look-ups/, /every place that the change touches|two levels deep/],
  [/Write documentation only/, /Change nothing/],
  [/without a sandbox/, /in a sandbox/],
];

Deno.test("no prompt contradicts itself, or is longer than 4 kB", () => {
  for (const mode of Object.values(CHOSEN)) {
    for (const model of FAMILIES) {
      for (const isSubagent of [false, true]) {
        for (const small of [false, true]) {
          const inputs = { ...PLAIN, model, small, isSubagent, oneByOne: isOneByOne(model) };
          const system = `${view([], mode, inputs).system}\n\n${modeText(mode, inputs)}`;
          const what = `${mode.name}, ${model}${isSubagent ? ", sub-agent" : ""}${small ? ", small" : ""}`;
          assert.ok(system.length <= 4_000, `${what}: ${system.length} characters`);
          for (const [one, other] of CONTRADICTIONS) {
            assert.ok(!(one.test(system) && other.test(system)), `${what}: ${one} and ${other}`);
          }
        }
      }
    }
  }
});

const words = fc.constantFrom("a", "ü😀", "line\nline\n", " x ");
const step = fc.record({ text: words, calls: fc.nat({ max: 3 }), rules: fc.boolean(), cut: fc.boolean() });
const turns = fc.array(
  fc.record({
    asked: words,
    context: fc.boolean(),
    files: fc.boolean(),
    steps: fc.array(step, { maxLength: 3 }),
  }),
  { minLength: 1, maxLength: 4 },
);

/** The log as a session writes it, and where each request of it was sent. */
function logOf(played: typeof turns extends fc.Arbitrary<infer Turns> ? Turns : never) {
  const log: MessageEntry[] = [];
  const sent: number[] = [];
  const note = (reason: "context" | "files" | "rules" | "output_limit") =>
    log.push({ type: "control_note", reason, text: `<${reason}>` });
  for (const [turn, { asked, context, files, steps }] of played.entries()) {
    log.push({ type: "user_message", origin: "user", parts: [{ type: "text", text: asked }] });
    if (files) note("files");
    if (context) note("context");
    sent.push(log.length);
    for (const [at, { text, calls, rules, cut }] of steps.entries()) {
      const ids = Array.from({ length: cut ? 0 : calls }, (_, call) => `c${turn}_${at}_${call}`);
      const made = ids.map((id) => ({ id, name: "read_file", arguments: "{}" }));
      log.push({ type: "assistant_message", text, calls: made, reasoning: [] });
      for (const id of ids) log.push({ type: "tool_result", id, name: "read_file", text, isError: false });
      if (ids.length > 0 && rules) note("rules");
      if (ids.length === 0) note("output_limit");
      sent.push(log.length);
    }
    log.push({ type: "assistant_message", text: "Done.", calls: [], reasoning: [] });
  }
  return { log, sent };
}

for (const name of WIRES) {
  Deno.test(`${name}: what was sent stays as it was, within a turn and across turns`, () => {
    const inputs = { environment: { roots: ["/p"], os: "linux" }, tools: TOOLS.map(({ spec }) => spec) };
    fc.assert(fc.property(turns, fc.constantFrom("gpt-5", "mistral-large", "claude"), (played, model) => {
      const { log, sent } = logOf(played);
      let before: readonly string[] = [];
      for (const length of sent) {
        const { system, messages, tools } = view(log.slice(0, length), MODES.agent, { ...inputs, model });
        const request = { model, system, messages, tools, contextWindow: 8_000 };
        const body: unknown = JSON.parse(
          wire(name).encode(request, { baseUrl: "http://a.test", headers: {} }).body,
        );
        assert.ok(isObject(body));
        const now = transcript(name, body);
        assert.deepEqual(checkPrefix(before, now), []);
        assert.ok(now.length > before.length);
        before = now;
      }
    }));
  });
}
