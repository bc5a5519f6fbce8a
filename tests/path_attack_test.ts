/**
 * Whatever path a model writes, nothing outside of the project is read or changed, and no secret is read. The engine
 * is real and started as the supervisor starts it; every attack is tried with every file tool.
 */
import assert from "node:assert/strict";
import { join } from "node:path";
import { OPTION } from "../denops/agent/protocol/extensions.ts";
import { Engine } from "../denops/agent/supervisor/engine.ts";
import { type Answers, type Attack, attacks, type Tool } from "./attacks/paths.ts";
import {
  bait,
  HOOK,
  LINKED,
  MARK,
  NEAR,
  type Playground,
  playground,
  SECRETS,
  snapshot,
} from "./attacks/playground.ts";
import { messagesOf } from "./model/model_messages.ts";
import { ModelServer } from "./model/model_server.ts";
import { SECRET } from "./support/agent.ts";
import { clientThatAnswers, type Level, LEVELS, prepareEngine } from "./support/engine.ts";
import { within } from "./support/project.ts";

/** As many as the engine runs of one answer. */
const BATCH = 15;
const LONGEST_MS = 30_000;

interface Probe {
  readonly tool: Tool;
  readonly args: Readonly<Record<string, string>>;
}

/** In this order, each with all paths: what was overwritten cannot be read any more. */
const PROBES: readonly Probe[] = [
  { tool: "read_file", args: {} },
  { tool: "list_directory", args: {} },
  { tool: "edit_file", args: { old_str: NEAR, new_str: "changed" } },
  { tool: "edit_file", args: { old_str: MARK, new_str: "changed" } },
  { tool: "write_file", args: { content: "written by the model\n" } },
];

interface Call extends Probe {
  readonly attack: Attack;
}

function script(calls: readonly Call[]): string {
  const answers: string[] = [];
  for (let at = 0; at < calls.length; at += BATCH) {
    const lines = calls.slice(at, at + BATCH).map(({ tool, args, attack: [, path] }) =>
      `call ${tool} ${JSON.stringify({ path, ...args })}`
    );
    // A line of the script ends here too.
    answers.push(["pieces 10000", ...lines].join("\n").replaceAll("\u2028", "\\u2028"));
  }
  return [...answers, "say That was all."].join("\n---\n");
}

interface Outcome {
  /** What the model was told, one text per call, in order. */
  readonly results: readonly string[];
  /** The bodies of all requests to the model. */
  readonly sent: readonly string[];
  /** The files that a person was asked about. */
  readonly asked: readonly string[];
}

async function play(
  calls: readonly Call[],
  ground: Playground,
  level: Level,
  answer: string,
): Promise<Outcome> {
  await using server = await ModelServer.start(script(calls), { secrets: [SECRET] });
  const { root, stateDir } = ground;
  const { launch, config, state } = await prepareEngine({
    level,
    root,
    stateDir,
    baseUrl: `${server.url}/v1`,
  });
  const baited = await ground.baitState(state);
  const client = clientThatAnswers(answer);
  await using engine = await Engine.start(launch, config, client.events);
  const outside = () => snapshot(ground.base, [root, state]);
  const before = await outside();
  const turn = engine.prompt(await engine.newSession([root]), "Attack!");
  assert.ok((await within(LONGEST_MS, turn)).done, "a call hangs");
  assert.deepEqual(await outside(), before, "nothing outside of the project has changed");
  assert.equal(await Deno.readTextFile(baited), bait(SECRETS.state));
  assert.deepEqual(server.problems, []);
  const last = server.requests.at(-1);
  assert.ok(last !== undefined);
  return {
    results: messagesOf(last.wire, last.body).flatMap(({ results }) => results.map(({ text }) => text))
      .map((text) => text.replace(/\n\[\d+ calls in one answer.*\]$/, "")),
    sent: server.requests.map(({ body }) => JSON.stringify(body)),
    asked: client.asked.flatMap(({ toolCall }) => toolCall.locations?.map(({ path }) => path) ?? []),
  };
}

/** What a write says that a person is asked about. */
const ASKED = {
  [OPTION.reject]: { asked: /^The user rejected this\..*$/, guarded: /^The user rejected this\..*$/ },
  [OPTION.allowOnce]: {
    asked: /^(Created|Replaced) [^\n]+\.$/,
    guarded: /^(Cannot write .+: .+|path has a control character: .+)$/,
  },
} as const;

function expected(answers: Answers, tool: Tool, answer: keyof typeof ASKED): RegExp {
  const wanted = answers[tool];
  return typeof wanted === "string" ? ASKED[answer][wanted] : wanted;
}

for (const level of LEVELS) {
  for (const answer of [OPTION.reject, OPTION.allowOnce] as const) {
    Deno.test({
      name: `no path leads out of the project or to a secret (${level.name}, the user's answer: ${answer})`,
      ignore: Deno.build.os === "windows",
      async fn() {
        await using ground = await playground();
        const table = attacks(ground.base);
        const calls = PROBES.flatMap((probe) => table.map((attack): Call => ({ ...probe, attack })));
        const { results, sent, asked } = await play(calls, ground, level, answer);

        const told = calls.map(({ tool, attack: [name] }, index) => ({
          name,
          tool,
          text: results[index] ?? "",
        }));
        for (const secret of Object.values(SECRETS)) {
          const leaks = told.filter(({ text }) => text.includes(secret));
          assert.deepEqual(leaks, [], `${secret} reached the model`);
          assert.ok(sent.every((body) => !body.includes(secret)), `${secret} was sent`);
        }
        const wrong = calls.flatMap(({ tool, attack: [name, , answers] }, index) => {
          const text = results[index] ?? "no result";
          const pattern = expected(answers, tool, answer);
          return pattern.test(text) ? [] : [`${name}: ${tool} says ${JSON.stringify(text)}, not ${pattern}`];
        });
        assert.deepEqual(wrong, []);

        // Asked about writes only, and only in the project.
        assert.ok(asked.length > 0);
        assert.deepEqual(asked.filter((path) => !path.startsWith(`${ground.root}/`)), []);
        assert.equal(await Deno.readTextFile(join(ground.root, ".git/hooks/pre-commit")), HOOK);
        await assert.rejects(Deno.lstat(join(ground.root, ".git/commondir")), Deno.errors.NotFound);
        const allowed = answer === OPTION.allowOnce;
        const env = await Deno.readTextFile(join(ground.root, ".env"));
        assert.equal(env, allowed ? "written by the model\n" : bait(SECRETS.env));
        assert.equal(await Deno.readTextFile(join(ground.outside, "linked.txt")), LINKED);
        assert.equal(await Deno.readTextFile(join(ground.root, "hard.txt")), "written by the model\n");
      },
    });
  }
}
