/**
 * Whole turns of agents that others wrote, in a real Neovim, against a scripted model: `deno task agents [NAME …]`.
 * Installs them from npm into `.deps` (a gigabyte). Prints what each did, and how long its turns take here and in a client
 * that allows everything; exits with 1 if a promise is broken.
 */
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { ChildNvim } from "../../tests/support/nvim.ts";
import { type Scratch, scratch, waitUntil } from "../../tests/support/project.ts";
import type { AgentOptions } from "../../denops/agent/protocol/options/shapes.ts";
import { DEPS, PROJECT, taskArguments, toolEnvironment } from "../environment.ts";
import { type AgentModel, scripted, startAgentModel } from "./model.ts";
import { agentRow, REAL_AGENTS, type RealAgent } from "./agents.ts";
import { startBare } from "./bare.ts";

const TURN_MS = 240_000;
const BEFORE = "one\ntwo\nthree\n";

interface Place {
  readonly agent: RealAgent;
  readonly row: AgentOptions;
  readonly nvim: ChildNvim;
  readonly model: AgentModel;
  readonly project: Scratch;
  readonly home: Scratch;
}

/** @throws {Error} where it does not hold */
type Check = (place: Place) => Promise<void>;

async function startPlace(agent: RealAgent): Promise<Place & AsyncDisposable> {
  await using stack = new AsyncDisposableStack();
  const model = stack.use(startAgentModel());
  const url = `http://${model.host}`;
  const row = await agentRow(agent, DEPS, url);
  const project = stack.use(
    await scratch({ "a.txt": BEFORE, "src/b.txt": "b\n" }, { git: true, mined: false }),
  );
  const home = stack.use(await scratch({ "secret.txt": "hidden\n", ...agent.home(url) }));
  const state = stack.use(await scratch());
  // opencode would download ripgrep.
  const shell = { read: [join(DEPS, "bin"), join(DEPS, "rg")] };
  const options = { agent: agent.name, agents: { [agent.name]: row }, state_dir: state.root, shell };
  const nvim = stack.use(
    await ChildNvim.start({
      ...{ columns: 100, lines: 40, cwd: project.root, runtime: [PROJECT] },
      env: { HOME: home.root },
      lua: `vim.g.agent = vim.json.decode(${JSON.stringify(JSON.stringify(options))})`,
    }),
  );
  const owned = stack.move();
  return { agent, row, nvim, model, project, home, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

async function send({ nvim }: Place, words: string, ...answers: readonly string[]): Promise<void> {
  await nvim.lua(`require("agent").send(...)`, scripted(words, answers.join("\n---\n")));
}

/** Waits until the chat shows a turn's last words, and the turn is over. */
async function waitForEnd({ nvim }: Place, words: string): Promise<void> {
  const shows =
    `vim.iter(vim.api.nvim_buf_get_lines(require("agent.chat").current().transcript.buffer, 0, -1, false))
    :any(function(line) return vim.trim(line) == ${JSON.stringify(words)} end)`;
  const options = { timeout: TURN_MS };
  await nvim.waitFor(`${shows} and require("agent").status():find("ready$")`, options);
}

const CHECKS: Readonly<Record<string, Check>> = {
  async edit(place) {
    const { project, agent } = place;
    const { read, edit } = agent.calls(project.root);
    await send(place, "Edit a.txt.", read, edit, "say Edited it.");
    await waitForEnd(place, "Edited it.");
    assert.equal(await project.read("a.txt"), "one\n2\nthree\n");
  },
  async command(place) {
    const { project, home, agent } = place;
    const line = `cat ${home.root}/secret.txt > leak.txt; echo made > made.txt; touch ${home.root}/planted`;
    await send(place, "Run it.", agent.calls(project.root).command(line), "say Ran it.");
    await waitForEnd(place, "Ran it.");
    assert.equal(await project.read("made.txt"), "made\n");
    assert.doesNotMatch(await project.read("leak.txt").catch(() => ""), /hidden/);
    assert.ok(!existsSync(home.path("planted")));
  },
  async refusal(place) {
    const { project, agent, nvim } = place;
    const line = "mkdir -p .github/workflows; echo on > .github/workflows/ci.yml";
    await send(place, "Add a workflow.", agent.calls(project.root).command(line), "say Added it.");
    await nvim.waitFor(`require("agent.approval").count() > 0`, { timeout: TURN_MS });
    await nvim.waitForScreen("ci.yml");
    await nvim.command("Agent reject not now");
    await waitForEnd(place, "Added it.");
    assert.ok(!existsSync(project.path(".github/workflows/ci.yml")));
  },
  async resume(place) {
    const { nvim, model } = place;
    await nvim.lua(`local chats = require("agent.chat"); vim.iter(chats.list()):each(chats.close)
      for _, host in ipairs(require("agent.host").all()) do
        local supervisor = vim.fn.jobpid(host.process.channel)
        for _, engine in ipairs(vim.api.nvim_get_proc_children(supervisor)) do vim.uv.kill(engine, "sigkill") end
      end`);
    await nvim.command("Agent resume");
    await waitForEnd(place, "Edited it.");
    await send(place, "And now?", "say Still here.");
    await waitForEnd(place, "Still here.");
    assert.match(model.requests.at(-1) ?? "", /Edit a\.txt\./);
  },
  async undo(place) {
    const { nvim, project } = place;
    await nvim.command("Agent undo 2");
    await waitUntil("the command to be undone", () => !existsSync(project.path("made.txt")));
    await nvim.command("Agent undo 1");
    await waitUntil("the edit to be undone", async () => await project.read("a.txt") === BEFORE);
  },
};

/** Turns of each kind. */
const COMPARED = 7;

/** Prints how long a turn takes here, and of the same agent alone. */
async function compare(place: Place): Promise<void> {
  const { agent, row, home } = place;
  await using alone = await scratch({ "a.txt": BEFORE }, { git: true, mined: false });
  const PATH = [join(DEPS, "rg"), join(DEPS, "bin"), Deno.env.get("PATH")].join(":");
  const begun = performance.now();
  await using bare = await startBare(row, alone.root, { HOME: home.root, PATH });
  await bare.prompt(scripted("Hello.", "say Hello."));
  const first = Math.round(performance.now() - begun);
  console.log(`${agent.name}: start and first turn alone ${first} ms`);
  for (const kind of ["answer", "command"]) {
    const times: Record<"here" | "alone", number[]> = { here: [], alone: [] };
    for (let turn = 0; turn < COMPARED; turn++) {
      const end = `say Turn ${kind} ${turn}.`;
      const steps = kind === "command" ? [agent.calls("").command(`echo ${turn} > made.txt`), end] : [end];
      times.alone.push(await timeOf(() => bare.prompt(scripted("Go on.", steps.join("\n---\n")))));
      times.here.push(
        await timeOf(async () => {
          await send(place, "Go on.", ...steps);
          await waitForEnd(place, `Turn ${kind} ${turn}.`);
        }),
      );
    }
    const median = (list: readonly number[]) =>
      Math.round(list.toSorted((a, b) => a - b)[COMPARED >> 1] ?? 0);
    console.log(
      `${agent.name}: a turn with ${kind}: here ${median(times.here)} ms, alone ${
        median(times.alone)
      } ms (medians of ${COMPARED})`,
    );
  }
}

async function timeOf(work: () => Promise<unknown>): Promise<number> {
  const begun = performance.now();
  await work();
  return performance.now() - begun;
}

async function drive(agent: RealAgent): Promise<boolean> {
  await using place = await startPlace(agent);
  let isGood = true;
  for (const [name, check] of Object.entries(CHECKS)) {
    const begun = performance.now();
    try {
      await check(place);
      console.log(`${agent.name}: ${name} ok, ${Math.round(performance.now() - begun)} ms`);
    } catch (error) {
      isGood = false;
      console.log(`${agent.name}: ${name} FAILED: ${error instanceof Error ? error.message : error}`);
      console.log(place.nvim.text());
      if (name === "edit") return false;
    }
  }
  await compare(place);
  return isGood;
}

const { positionals } = taskArguments({}, "deno task agents [NAME …]");
const unknown = positionals.find((name) => REAL_AGENTS.every((agent) => agent.name !== name));
if (unknown !== undefined) {
  console.error(`Unknown agent ${unknown}. Known are: ${REAL_AGENTS.map(({ name }) => name).join(", ")}.`);
  Deno.exit(2);
}
const environment = await toolEnvironment(["nvim", "rg", "bwrap"]);
for (const [name, value] of Object.entries(environment)) Deno.env.set(name, value);
let isGood = true;
for (
  const agent of REAL_AGENTS.filter(({ name }) => positionals.length === 0 || positionals.includes(name))
) {
  if (!await drive(agent)) isGood = false;
}
Deno.exit(isGood ? 0 : 1);
