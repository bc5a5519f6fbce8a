/**
 * Ten small real tasks with a model of yours, scored by checks that it does not see: `deno task smoke [TASK …]`. Costs
 * money where the model does. AGENT_SMOKE has the options of the model, as Lua fields; keys come from the environment:
 *
 * ```sh
 * AGENT_SMOKE='provider = "ollama", model = "qwen3:8b"' deno task smoke
 * ```
 *
 * Each task runs in a headless Neovim on a scratch project. Edits are made unasked; what would ask is rejected.
 */
import { ChildNvim } from "../tests/support/nvim.ts";
import { scratch, waitUntil } from "../tests/support/project.ts";
import { PROJECT, toolEnvironment } from "./environment.ts";
import { problemOf } from "./smoke/score.ts";
import { type SmokeTask, TASKS } from "./smoke/tasks.ts";

const TURN_MS = 600_000;

interface Score {
  readonly task: string;
  /** Undefined: it was done. */
  readonly problem: string | undefined;
  readonly seconds: number;
  readonly requests: number;
  readonly input: number;
  readonly output: number;
  readonly invalid: number;
}

type Sums = Pick<Score, "requests" | "input" | "output" | "invalid">;

const NO_USAGE: Sums = { requests: 0, input: 0, output: 0, invalid: 0 };

const USAGE = `
_G.smoke_usage = nil
local chat = require("agent.chat").current()
require("agent.client").request(chat, "usage", { sessionId = chat.timeline.session }, function(usage)
  _G.smoke_usage = usage and usage.turns[1] or {}
end)`;

async function run(task: SmokeTask, options: string): Promise<Score> {
  await using project = await scratch(task.files, { git: true, mined: false });
  await using state = await scratch();
  await using checks = await scratch();
  await using nvim = await ChildNvim.start({
    ...{ columns: 100, lines: 40, cwd: project.root, runtime: [PROJECT] },
    lua: `vim.g.agent = vim.tbl_extend("force", { sessions = { title = false }, state_dir = ${
      JSON.stringify(state.root)
    },
      files = { safe_to_write = { { "**", true } } }, shell = { commands = "project" }, mode = ${
      JSON.stringify(task.mode ?? "agent")
    } },
      { ${options} })`,
  });
  const begun = performance.now();
  await nvim.lua(`require("agent").send(...)`, task.prompt);
  const problem = await waitUntil(`the task ${task.name} to end`, async () => {
    const [state, approvals] = await nvim.lua<[string, number]>(
      `return { require("agent.chat").current().timeline.state, require("agent.approval").count() }`,
    );
    if (approvals > 0) await nvim.lua(`require("agent").reject("nobody is here to agree to this")`);
    return state === "idle" && approvals === 0;
  }, { timeout: TURN_MS }).then(() => undefined, () => "it did not end in time");
  const seconds = Math.round((performance.now() - begun) / 1_000);
  const lines = await nvim.lua<string[]>(
    `return vim.api.nvim_buf_get_lines(require("agent.chat").current().transcript.buffer, 0, -1, true)`,
  );
  await nvim.lua(USAGE);
  const usage = await waitUntil("the usage", () => nvim.lua<Partial<Sums> | null>("return smoke_usage"))
    .catch(() => ({}));
  await nvim.quit();
  return {
    ...{ task: task.name, seconds, ...NO_USAGE, ...sumsOf(usage ?? {}) },
    problem: problem ?? await problemOf(task, project.root, checks.root, lines.join("\n")),
  };
}

function sumsOf({ requests = 0, input = 0, output = 0, invalid = 0 }: Partial<Sums>): Sums {
  return { requests, input, output, invalid };
}

const COLUMNS = ["task", "score", "seconds", "requests", "tokens in", "out", "invalid calls", "why"];

function rowOf({ task, problem, seconds, requests, input, output, invalid }: Score): readonly string[] {
  const numbers = [seconds, requests, input, output, invalid].map(String);
  return [task, problem === undefined ? "pass" : "FAIL", ...numbers, problem ?? ""];
}

function printTable(scores: readonly Score[]): void {
  const rows = [COLUMNS, ...scores.map(rowOf)];
  const widths = COLUMNS.map((_, at) => Math.max(...rows.map((row) => row[at]?.length ?? 0)));
  for (const row of rows) {
    const cells = row.map((cell, at) =>
      at < 2 || at === 7 ? cell.padEnd(widths[at] ?? 0) : cell.padStart(widths[at] ?? 0)
    );
    console.log(cells.join("  ").trimEnd());
  }
  const passed = scores.filter(({ problem }) => problem === undefined).length;
  console.log(`\n${passed} of ${scores.length} passed`);
}

const options = Deno.env.get("AGENT_SMOKE");
const unknown = Deno.args.filter((name) => !TASKS.some((task) => task.name === name));
if (options === undefined || unknown.length > 0) {
  console.error(
    unknown.length > 0
      ? `Unknown task: ${unknown.join(", ")}. Tasks: ${TASKS.map(({ name }) => name).join(", ")}.`
      : `Set AGENT_SMOKE to the model's options, such as AGENT_SMOKE='provider = "ollama", model = "qwen3:8b"'.`,
  );
  Deno.exit(2);
}
for (const [name, value] of Object.entries(await toolEnvironment(["nvim", "git", "bwrap"]))) {
  Deno.env.set(name, value);
}
const scores: Score[] = [];
for (const task of TASKS.filter(({ name }) => Deno.args.length === 0 || Deno.args.includes(name))) {
  const score = await run(task, options);
  console.error(`${score.problem === undefined ? "pass" : "FAIL"}  ${task.name}`);
  scores.push(score);
}
printTable(scores);
Deno.exitCode = scores.every(({ problem }) => problem === undefined) ? 0 : 1;
