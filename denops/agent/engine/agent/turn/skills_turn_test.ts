/** Skills in turns: the prompt, the tool, and what folding leaves of them. */
import assert from "node:assert/strict";
import { objects, property } from "../../../../../tests/model/model_messages.ts";
import { type RunningEngine, startEngine } from "../../../../../tests/support/engine_session.ts";
import { newest, systemOf } from "../../../../../tests/support/surroundings.ts";
import { NOTHING_CHOSEN } from "../../context/chosen.ts";
import { planMasks } from "../../context/folding/fold_plan.ts";
import type { SkillFacts } from "../../../protocol/results/skills.ts";
import { skillText } from "../../../shared/user_files/skill_file.ts";

const PDF = { name: "pdf", description: "Fill forms of PDF." };
const GIT = { name: "git", description: "Write commits." };

const textOf = (name: string, body: string, version = "0123456789ab") =>
  skillText({ name, compatibility: "", body }, { version, folder: `/skills/${name}`, files: ["more.md"] });

/** @param skills the ones that are offered, at any moment */
async function start(script: readonly string[], skills: SkillFacts[], body: () => string = () => "Do it.") {
  const asked: string[] = [];
  const engine = await startEngine({
    script: script.join("\n---\n"),
    files: { "a.txt": "alpha\n" },
    config: { title: false, context_window: 20_000 },
    surroundings: {
      ask: ({ facts }) => Promise.resolve(facts.includes("skills") ? { skills: [...skills] } : {}),
    },
    abilities: {
      skills: {
        text: (name) => {
          asked.push(name);
          return Promise.resolve(textOf(name, body()));
        },
        file: (path) => Promise.resolve(path === "/skills/pdf/more.md" ? "one\ntwo\nthree" : undefined),
        isSeen: () => false,
      },
    },
  });
  return { engine, asked, [Symbol.asyncDispose]: () => engine[Symbol.asyncDispose]() };
}

/** The spec of read_skill in a request. */
function tool({ server }: RunningEngine, at = -1): Readonly<Record<string, unknown>> | undefined {
  return objects(server.requests.at(at)?.body.tools).map(({ function: spec }) => spec)
    .find((spec) => property(spec, "name") === "read_skill") as Readonly<Record<string, unknown>> | undefined;
}

const names = (engine: RunningEngine, at?: number) =>
  property(property(property(property(tool(engine, at), "parameters"), "properties"), "name"), "enum");

Deno.test("without skills nothing is said of them, and the tool is not offered", async () => {
  await using play = await start(["say Hi."], []);
  await play.engine.prompt("Go");
  assert.equal(tool(play.engine), undefined);
  assert.doesNotMatch(systemOf(play.engine), /skill/i);
});

Deno.test("the prompt lists skills, and each is read once as long as the model sees it", async () => {
  let body = "Do it.";
  await using play = await start(
    [
      'call read_skill {"name":"pdf"}',
      'call read {"path":"/skills/pdf/more.md","offset":2,"limit":1}\ncall read {"path":"/skills/other.md"}',
      'call read {"path":"a.txt"}',
      'call read {"path":"a.txt","offset":1}',
      'call read_skill {"name":"pdf"}',
      "say Done.",
      'call read_skill {"name":"pdf"}',
      "say Again.",
    ],
    [PDF, GIT],
    () => body,
  );
  const { engine } = play;
  await engine.prompt("Go");
  assert.match(systemOf(engine), /\n\nSkills: .*\n- pdf: Fill forms of PDF\.\n- git: Write commits\.\n\n/);
  assert.deepEqual(names(engine), ["pdf", "git"]);
  const [first, lines, other = "", , , second] = engine.results();
  assert.equal(first, textOf("pdf", "Do it."));
  assert.equal(lines, "2\ttwo\n[more lines follow; read on with offset 3]");
  assert.match(other, /outside/);
  assert.equal(second, "You have read the skill pdf already, see above: it has not changed.");
  body = "Do it otherwise.";
  await engine.prompt("Once more");
  assert.equal(engine.results().at(-1), textOf("pdf", "Do it otherwise."));
  assert.deepEqual(engine.asked, []);
  assert.deepEqual(engine.server.problems, []);
});

Deno.test("later skills come with a note, and change nothing that was sent", async () => {
  const skills = [PDF];
  await using play = await start([
    "say One.",
    "say Two.",
    'call read_skill {"name":"git"}',
    "say Three.",
    "say Four.",
  ], skills);
  const { engine } = play;
  await engine.prompt("Go");
  skills.push(GIT);
  await engine.prompt("Go");
  assert.match(
    newest(engine),
    /Skills that are new or have changed, for read_skill:\n- git: Write commits\.\n/,
  );
  assert.deepEqual(names(engine), ["pdf"]);
  await engine.prompt("Go");
  assert.equal(engine.results().at(-1), textOf("git", "Do it."));
  skills.splice(0, 2, PDF);
  await engine.prompt("Go");
  assert.match(newest(engine), /The skills are those at the beginning again/);
  assert.doesNotMatch(systemOf(engine), /git: Write/);
  assert.deepEqual(engine.server.problems, []);
});

Deno.test("a session that began without skills gets the tool behind the others", async () => {
  const skills: SkillFacts[] = [];
  await using play = await start(["say One.", "say Two.", "say Three."], skills);
  const { engine } = play;
  await engine.prompt("Go");
  skills.push(PDF);
  await engine.prompt("Go");
  assert.match(newest(engine), /new or have changed, for read_skill:\n- pdf: /);
  assert.deepEqual(names(engine), ["pdf"]);
  assert.equal(objects(engine.server.requests.at(-1)?.body.tools).at(-1)?.function, tool(engine));
  skills.push(GIT);
  await engine.prompt("Go");
  assert.deepEqual(names(engine), ["pdf"]);
});

Deno.test("a skill outlives masking and compaction, and is not read again after them", async () => {
  const rule = "Follow this rule of the skill. ".repeat(40);
  await using play = await start(
    [
      'call read_skill {"name":"pdf"}',
      "say One.",
      ...Array.from({ length: 5 }, (_, at) => [`call read {"path":"a${at}.txt"}`, `say ${at}.`]).flat(),
    ],
    [PDF],
    () => rule,
  );
  const { engine } = play;
  for (let at = 0; at < 5; at++) await engine.project.write(`a${at}.txt`, "long ".repeat(3_000));
  for (let at = 0; at < 6; at++) await engine.prompt(`Go ${at}`);
  const sent = () => JSON.stringify(engine.server.requests.at(-1)?.body.messages);
  for (const focus of [undefined, "forms"]) {
    for (let at = 0; at < 4; at++) {
      engine.server.play(`new-history\ncall read {"path":"a${at}.txt"}\n---\nsay Read.`);
      await engine.prompt("Go on");
    }
    engine.server.play('new-history\nsay The summary.\n---\ncall read_skill {"name":"pdf"}\n---\nsay Again.');
    await engine.session.compact(focus);
    await engine.prompt("Read it again");
    assert.match(sent(), /The session up to here was folded/);
    assert.ok(sent().includes(rule), "the skill is still there");
    assert.match(engine.results().at(-1) ?? "", /already/);
  }
});

Deno.test("masking takes other results, and leaves skills", () => {
  const call = (id: string, name: string) =>
    ({ type: "assistant_message", text: "", calls: [{ id, name, arguments: "{}" }], reasoning: [] }) as const;
  const result = (id: string, name: string, text: string) =>
    ({ type: "tool_result", id, name, text, isError: false }) as const;
  const plan = planMasks({
    messages: [
      ...[call("a", "read_skill"), result("a", "read_skill", textOf("pdf", "x".repeat(1_000)))],
      // A forged one.
      ...[call("b", "run"), result("b", "run", textOf("pdf", "x".repeat(1_000)))],
      ...Array.from({ length: 6 }, () => call("c", "plan")),
    ],
    masked: new Map(),
    about: ({ name }) => ({ title: name, path: undefined, writes: false, ofSkill: name === "read_skill" }),
    chosen: NOTHING_CHOSEN,
  }, () => true);
  assert.deepEqual(plan?.results.map(({ id }) => id), ["b"]);
});
