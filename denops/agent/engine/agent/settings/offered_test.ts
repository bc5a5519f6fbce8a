/** The list of tools of a session: chosen once, the same in every mode, and under old names where it began with them. */
import assert from "node:assert/strict";
import { objects, property, string } from "../../../../../tests/model/model_messages.ts";
import {
  type EngineOptions,
  type RunningEngine,
  startEngine,
} from "../../../../../tests/support/engine_session.ts";
import { WIRES } from "../../../protocol/providers.ts";

const FILES = { "a.txt": "alpha\n" };
const HI = "new-history\nsay Hi.\nrepeat";

function toolsOf({ server }: RunningEngine, at = -1): readonly string[] {
  const { tools } = server.requests.at(at)?.body ?? {};
  return objects(tools).map((tool) => string(tool.name) ?? string(property(tool.function, "name")) ?? "");
}

function notices({ events }: RunningEngine): readonly string[] {
  return events.flatMap((event) => event.type === "notice" ? [event.text] : []);
}

const languages: NonNullable<EngineOptions["abilities"]>["languages"] = {
  ask: () => Promise.resolve({ kind: "nothing", reason: "none" }),
};
const mode = { description: "", base: "agent", access: "write", text: "Be brief." } as const;

Deno.test("a language server, a mode and a switch of the mode change nothing in what was sent", async () => {
  const modes = [{ ...mode, name: "deep", tools: ["read", "research", "think"] }];
  await using engine = await startEngine({
    ...{ script: "say Hi.\nrepeat", files: FILES, abilities: { languages }, config: { title: false, modes } },
  });
  const say = (servers: boolean) =>
    engine.session.prompt([{ type: "text", text: "Hi" }], { view: { buffers: [], servers } });
  await say(false);
  const first = toolsOf(engine);
  assert.ok(
    !first.includes("symbols") && !first.includes("refactor") && !first.includes("think"),
    first.join(),
  );
  await say(true);
  const before = engine.server.requests.at(-1)?.body;
  engine.session.modes.choose({ mode: "plan" });
  await say(true);
  const after = engine.server.requests.at(-1)?.body;
  assert.deepEqual(after?.tools, before?.tools);
  const grown = JSON.stringify(after).length - JSON.stringify(before).length;
  assert.ok(grown < 800, `${grown} new bytes, the message and its answer among them`);
  engine.session.modes.choose({ mode: "deep" });
  await say(true);
  assert.deepEqual(toolsOf(engine), first);
  assert.deepEqual(notices(engine), [
    "Mode deep names tools that this session does not have: think. :Agent tools adds them.",
  ]);
  // Each request began as the one before, and what the user switches on comes behind the others.
  assert.deepEqual(engine.server.problems, []);
  engine.server.play(HI);
  engine.session.tools.toggle("think");
  await say(true);
  assert.deepEqual(toolsOf(engine), [...first, "think"]);
  engine.session.tools.toggle("think");
  await say(true);
  assert.deepEqual(toolsOf(engine), first);
  // After a restart it is the same.
  await engine.session.close();
  await engine.again().prompt([{ type: "text", text: "Hi" }], { view: { buffers: [], servers: true } });
  assert.deepEqual(toolsOf(engine), first);
});

Deno.test("another family of models begins a list of its own, and the first one is had again", async () => {
  await using engine = await startEngine({
    ...{ script: HI, files: FILES, config: { title: false, model: "claude-sonnet-4-5" } },
  });
  await engine.prompt("Hi");
  const claude = toolsOf(engine);
  engine.session.modes.choose({ model: "gpt-5" }, { name: "gpt-5" });
  await engine.prompt("Hi");
  assert.ok(toolsOf(engine).includes("apply_patch") && !toolsOf(engine).includes("write"));
  engine.session.modes.choose({ model: "claude-opus-4-5" }, { name: "claude-opus-4-5" });
  await engine.prompt("Hi");
  assert.deepEqual(toolsOf(engine), claude);
});

/** As a session was stored before its list was: a request, and no list. */
async function makeOld(engine: RunningEngine): Promise<void> {
  await engine.prompt("Begin");
  await engine.session.close();
  engine.database.run("DELETE FROM memory WHERE topic = ?", "offered");
}

for (const wire of WIRES) {
  Deno.test(`${wire}: a session of 31 tools keeps their names, and its calls are run`, async () => {
    await using engine = await startEngine({
      ...{ wire, files: FILES, config: { title: false, model: "claude-sonnet-4-5" } },
      script: "say Begun.",
    });
    await makeOld(engine);
    engine.server.play(
      [
        'new-history\ncall read_files {"paths": ["a.txt"]}',
        'call edit_file {"path": "a.txt", "old_str": "alpha", "new_str": "omega"}',
        "say Done.",
        "say Again.",
      ].join("\n---\n"),
    );
    const later = engine.again();
    await later.prompt([{ type: "text", text: "Go" }]);
    assert.equal(await engine.project.read("a.txt"), "omega\n");
    const names = toolsOf(engine);
    assert.ok(names.includes("read_file") && names.includes("update_plan"), names.join());
    assert.ok(!names.includes("read") && !names.includes("plan"), names.join());
    await later.close();
    const last = engine.again();
    await last.prompt([{ type: "text", text: "Once more" }]);
    assert.deepEqual(toolsOf(engine), names);
    assert.deepEqual(engine.server.problems, []);
    await last.close();
  });
}

Deno.test("what is off under an old name is off under the new one, in part where it was a part", async () => {
  await using engine = await startEngine({
    ...{ files: FILES, config: { title: false, tools_off: ["read_files", "write_file"] } },
    script: [
      'call read {"paths": ["a.txt", "a.txt"]}\ncall read {"path": "a.txt"}\ncall write {"path": "b.txt", "content": "x"}',
      "say Done.",
    ].join("\n---\n"),
  });
  await engine.prompt("Go");
  const [several = "", one = "", write = ""] = engine.results();
  assert.match(several, /^Not run: read_files is off in this session\./);
  assert.equal(one, "1\talpha");
  assert.match(write, /^Not run: no tool is called "write"/);
  const names = toolsOf(engine);
  assert.ok(names.includes("read") && !names.includes("write"), names.join());
});

Deno.test("without any tool the text of the active file is sent, where the user was shown that, and with one tool it is not", async () => {
  const all = (on: boolean, { session }: RunningEngine) => {
    for (const { name } of session.tools.list.filter((tool) => tool.on !== on)) session.tools.toggle(name);
  };
  await using engine = await startEngine({
    script: "say Hi.\nrepeat",
    files: FILES,
    config: { title: false },
  });
  const ask = async (text: boolean) => {
    const current = { path: "a.txt", line: 1, modified: false, text };
    await engine.session.prompt([{ type: "text", text: "Hi" }], { view: { current, buffers: [] } });
    const said = objects(engine.server.requests.at(-1)?.body.messages).at(-1)?.content;
    return /alpha/.test(string(said) ?? "");
  };
  assert.equal(engine.session.hasTools, true);
  assert.equal(await ask(true), false);
  all(false, engine);
  assert.equal(engine.session.hasTools, false);
  engine.server.play(HI);
  assert.equal(await ask(false), false);
  assert.equal(await ask(true), true);
  assert.equal(await ask(true), false);
  engine.session.tools.toggle("plan");
  assert.equal(engine.session.hasTools, true);
});
