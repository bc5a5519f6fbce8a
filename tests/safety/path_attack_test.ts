/**
 * Whatever path a model writes, nothing outside of the project is read or changed, and no secret is read. The engine
 * is real and started as the supervisor starts it; every attack is tried with every file tool.
 */
import assert from "node:assert/strict";
import type { ApprovalChoice } from "../../denops/agent/supervisor/gate/outcome.ts";
import { join } from "node:path";
import { OPTION } from "../../denops/agent/protocol/extensions.ts";
import { type Answer, type Attack, attacks, type AttackTool } from "../attacks/paths.ts";
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
} from "../attacks/playground.ts";
import { messagesOf } from "../model/model_messages.ts";
import { ModelServer } from "../model/model_server.ts";
import { SECRET } from "../support/agent.ts";
import { IS_FULL } from "../support/sample.ts";
import { type Level, LEVELS, openProject } from "../support/engine.ts";
import { DEFAULT_TIMEOUT, within } from "../support/project.ts";

/** As many as the engine runs of one answer. */
const BATCH = 15;

interface Probe {
  readonly tool: AttackTool;
  args(path: string, index: number): Readonly<Record<string, unknown>>;
}

/** They change nothing. */
const READING: readonly Probe[] = [
  { tool: "read_file", args: (path) => ({ path }) },
  { tool: "list_directory", args: (path) => ({ path }) },
  { tool: "edit_file", args: (path) => ({ path, old_str: NEAR, new_str: "changed" }) },
  { tool: "list_files", args: (path) => ({ path }) },
  { tool: "search_workspace", args: (path) => ({ query: MARK, directory: path }) },
  { tool: "find_code_changes", args: (path) => ({ path, query: MARK }) },
];

/** In this order, each with all paths: what was changed, moved or deleted is not there for the others any more. */
const CHANGING: readonly Probe[] = [
  { tool: "edit_file", args: (path) => ({ path, old_str: MARK, new_str: "changed" }) },
  { tool: "move_file to", args: (path) => ({ from: "donor.txt", to: path }) },
  { tool: "write_file", args: (path) => ({ path, content: "written by the model\n" }) },
  { tool: "move_file from", args: (path, index) => ({ from: path, to: `moved/${index}.txt` }) },
  { tool: "delete_file", args: (path) => ({ path }) },
];

interface Call {
  readonly name: string;
  readonly tool: AttackTool;
  readonly args: Readonly<Record<string, unknown>>;
  readonly answer: Answer;
  readonly probe: Probe;
  /** The path's place in the table. */
  readonly path: number;
}

/** Every probe with every path that it is meant for. */
function callsOf(probes: readonly Probe[], table: readonly Attack[]): readonly Call[] {
  return probes.flatMap((probe) =>
    table.flatMap(([name, path, answers], index): readonly Call[] => {
      const { tool, args } = probe;
      const answer = answers[tool];
      return answer === undefined
        ? []
        : [{ name, tool, args: args(path, index), answer, probe, path: index }];
    })
  );
}

function script(calls: readonly Call[]): string {
  const answers: string[] = [];
  for (let at = 0; at < calls.length; at += BATCH) {
    const lines = calls.slice(at, at + BATCH).map(({ tool, args }) =>
      `call ${tool.split(" ")[0]} ${JSON.stringify(args)}`
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
  answer: ApprovalChoice,
): Promise<Outcome> {
  await using server = await ModelServer.start(script(calls), { secrets: [SECRET] });
  const { root, stateDir } = ground;
  await using project = await openProject({ level, root, stateDir, baseUrl: `${server.url}/v1` }, answer);
  const baited = await ground.baitState(project.state);
  const outside = () => snapshot(ground.base, [root, stateDir]);
  const before = await outside();
  assert.ok((await within(DEFAULT_TIMEOUT, project.play("Attack!"))).done, "a call hangs");
  assert.deepEqual(await outside(), before, "nothing outside of the project has changed");
  assert.equal(await Deno.readTextFile(baited), bait(SECRETS.state));
  assert.equal(await Deno.readTextFile(join(stateDir, "keep.txt")), "");
  assert.deepEqual(server.problems, []);
  const last = server.requests.at(-1);
  assert.ok(last !== undefined);
  return {
    results: messagesOf(last.wire, last.body).flatMap(({ results }) => results.map(({ text }) => text))
      .map((text) => text.replace(/\n\[\d+ calls in one answer.*\]$/, "")),
    sent: server.requests.map(({ body }) => JSON.stringify(body)),
    asked: project.asked.flatMap((one) => one.kind === "file" ? one.files.map(({ path }) => path) : []),
  };
}

/** What a change says that a person is asked about, and rejects or allows. */
const ASKED = {
  [OPTION.reject]: {
    asked: /^The user rejected this\..*$/,
    guarded: /^(The user rejected this\..*|Not allowed: \.git is closed to tools; .+)$/,
  },
  [OPTION.allowOnce]: {
    asked: /^(Created|Replaced|Deleted) [^\n]+\.$/,
    guarded:
      /^(Cannot (write|move|delete) .+: .+|path has a control character: .+|Not allowed: \.git is closed to tools; .+)$/,
  },
} as const;

/** With a yes, only what is changed is of interest; files are read first, as models have to. */
const RUNS = [
  { option: OPTION.reject, probes: [...READING, ...CHANGING] },
  { option: OPTION.allowOnce, probes: [...READING.slice(0, 1), ...CHANGING] },
] as const;

const PARTS = LEVELS.flatMap((level) => RUNS.map((run) => ({ level, ...run })));

/**
 * A run of all tests tries a fifth of the paths with each tool, each in one of the tests that have this tool;
 * `deno task attack` tries all in all of them. All files are read: models may write only what they have read.
 */
function share(calls: readonly Call[], part: number): readonly Call[] {
  if (IS_FULL) return calls;
  return calls.filter(({ probe, path }) => {
    if (probe.tool !== "read_file" && path % 5 > 0) return false;
    const able = [...PARTS.keys()].filter((at) => PARTS[at]?.probes.includes(probe));
    return probe.tool === "read_file" || able[(path + CHANGING.indexOf(probe) + 1) % able.length] === part;
  });
}

for (const [part, { level, option, probes }] of PARTS.entries()) {
  Deno.test({
    name: `no path leads out of the project or to a secret (${level.name}, the user's answer: ${option})`,
    ignore: Deno.build.os === "windows",
    async fn() {
      await using ground = await playground();
      const calls = share(callsOf(probes, attacks(ground.base)), part);
      const { results, sent, asked } = await play(calls, ground, level, option);

      const told = calls.map(({ name, tool, answer }, index) => {
        const pattern = typeof answer === "string" ? ASKED[option][answer] : answer;
        return { name, tool, pattern, text: results[index] ?? "no result" };
      });
      for (const secret of Object.values(SECRETS)) {
        assert.deepEqual(
          told.filter(({ text }) => text.includes(secret)),
          [],
          `${secret} reached the model`,
        );
        assert.ok(sent.every((body) => !body.includes(secret)), `${secret} was sent`);
      }
      assert.deepEqual(told.filter(({ text, pattern }) => !pattern.test(text)), []);

      // Asked about files of the project only.
      assert.ok(asked.length > 0);
      assert.deepEqual(asked.filter((path) => /^\/|(^|\/)\.\.(\/|$)/.test(path)), []);
      assert.equal(await Deno.readTextFile(join(ground.root, ".git/hooks/pre-commit")), HOOK);
      await assert.rejects(Deno.lstat(join(ground.root, ".git/commondir")), Deno.errors.NotFound);
      assert.equal(await Deno.readTextFile(join(ground.outside, "linked.txt")), LINKED);
      if (option !== OPTION.reject) return;
      assert.equal(await Deno.readTextFile(join(ground.root, ".env")), bait(SECRETS.env));
    },
  });
}
