/** From a start, or a key, to the request at the server. The floor is Neovim that starts curl. */
import { join } from "node:path";
import { ModelServer } from "../../tests/model/model_server.ts";
import { type RunningAgent, startAgent } from "../../tests/support/agent.ts";
import { ChildNvim } from "../../tests/support/nvim.ts";
import { resultOf, type RunPlace, runPlace, startRun } from "../../tests/support/run.ts";
import { denoCache } from "../../tests/support/nvim_process.ts";
import { pause, scratch } from "../../tests/support/project.ts";
import { PROJECT } from "../environment.ts";
import { atMost, group, median, row, times } from "./row.ts";
import { makeTree } from "./tree.ts";
import { FLOOR } from "./stream_sides.ts";

const STARTS = 15;
const COLD_RUNS = 5;
const WARM_RUNS = 20;
/** A user who opens the chat types for longer. */
const TYPING_MS = 1_500;
/** Of a user who types the command. */
const KEY_MS = 100;
const MANY_FILES = 100_000;
const MANY_RUNS = 3;
const FIRST_INSTALL_MS = 1_500;
/** A message waits for git that long at most. */
const LONGEST_GIT_MS = 100;
/** Of the agents of these rows. */
export const OPTIONS = { script: "say Hello.\nrepeat", options: "sessions = { title = false }" };

/** Sourcing plugin/agent.lua in a Neovim that has just started, against sourcing an empty file. */
export const startup = group(["startup_added"], async () => {
  const values: number[] = [];
  const floors: number[] = [];
  const empty = await Deno.makeTempFile({ suffix: ".lua" });
  for (let run = 0; run < STARTS; run++) {
    await using nvim = await ChildNvim.start();
    const measure = `local t = vim.uv.hrtime() vim.cmd.source(...) return (vim.uv.hrtime() - t) / 1e6`;
    floors.push(await nvim.lua<number>(measure, empty));
    values.push(await nvim.lua<number>(measure, `${PROJECT}/plugin/agent.lua`));
  }
  await Deno.remove(empty);
  return { startup_added: row("ms", median(values), atMost(0.5), median(floors)) };
});

/** A project without a repository that was worked in before: its state is filled. */
export async function workedIn(): Promise<RunningAgent> {
  const before = await startAgent(OPTIONS);
  await before.nvim.command("Agent hello");
  await before.nvim.waitForScreen("· ready");
  await before.nvim.quit();
  await removeRepository(before);
  return before;
}

/** In a Neovim that has just started: `:Agent hello`, typed, from its `<CR>`. */
export const typed = group(["typed_submit"], async () => {
  await using before = await workedIn();
  const values: number[] = [];
  const floors: number[] = [];
  for (let run = 0; run < COLD_RUNS; run++) {
    {
      await using agent = await startAgent({ ...OPTIONS, beside: before });
      for (const key of ":Agent hello") {
        await agent.nvim.request("nvim_input", key);
        await pause(KEY_MS);
      }
      values.push(await untilRequest(agent.server, () => agent.nvim.request("nvim_input", "<CR>")));
    }
    await using nvim = await startFloor();
    floors.push(await untilRequest(before.server, () => send(nvim, before.server)));
  }
  return { typed_submit: row("ms", median(values), atMost(120), median(floors)) };
});

/** In a Neovim that has just started, and without Neovim, in a project that was worked in before. */
export const cold = group(["cold_submit", "opened_submit", "run_submit"], async () => {
  await using before = await workedIn();
  await using place = await runPlace({ script: "", beside: before });
  const started: number[] = [];
  const shell: number[] = [];
  const opened: number[] = [];
  const floors: number[] = [];
  for (let run = 0; run < COLD_RUNS; run++) {
    {
      await using agent = await startAgent({ ...OPTIONS, beside: before });
      started.push(await untilRequest(agent.server, () => agent.nvim.command("Agent hello")));
    }
    shell.push(await runAndSubmit(place));
    opened.push(await openAndSubmit(before));
    await using nvim = await startFloor();
    floors.push(await untilRequest(before.server, () => send(nvim, before.server)));
  }
  const floor = median(floors);
  return {
    cold_submit: row("ms", median(started), atMost(450), floor),
    opened_submit: row("ms", median(opened), atMost(30), floor),
    // Against a Neovim that starts the same processes.
    run_submit: row("ms", median(shell), times(1), median(started)),
  };
});

/** A chat that was opened a moment ago in a project of 100,000 files. */
export const large = group(["opened_submit_100k"], async () => {
  await using before = await workedIn();
  makeTree(before.project, MANY_FILES);
  const values: number[] = [];
  for (let run = 0; run < MANY_RUNS; run++) values.push(await openAndSubmit(before));
  // So many take longer than a scratch folder waits.
  await Deno.remove(before.project.path("src"), { recursive: true });
  return { opened_submit_100k: row("ms", median(values), atMost(30)) };
});

/** The very first message: no state, and none of Deno's compiled code; the packages are there. */
export const firstInstall = group(["first_install_submit"], async () => {
  const values: number[] = [];
  for (let run = 0; run < COLD_RUNS; run++) {
    await using cache = await scratch();
    const copy = new Deno.Command("cp", { args: ["-r", join(denoCache().DENO_DIR, "npm"), cache.root] });
    if (!(await copy.output()).success) throw new Error("Cannot copy Deno's packages");
    await using agent = await startAgent({ ...OPTIONS, env: { DENO_DIR: cache.root } });
    await removeRepository(agent);
    values.push(await untilRequest(agent.server, () => agent.nvim.command("Agent hello")));
    await agent.nvim.waitForScreen("· ready");
    await agent.nvim.quit();
  }
  return { first_install_submit: row("ms", median(values), atMost(FIRST_INSTALL_MS)) };
});

/** `agent run hello`, from the start of its process. */
async function runAndSubmit(place: RunPlace): Promise<number> {
  let process: Deno.ChildProcess | undefined;
  const time = await untilRequest(place.server, () => {
    process = startRun(place, ["run", "hello"]);
    return Promise.resolve();
  });
  if (process !== undefined) await resultOf(process);
  return time;
}

/** From the key to the request, in a Neovim that has opened its chat a moment ago. */
async function openAndSubmit(before: RunningAgent): Promise<number> {
  await using agent = await startAgent({ ...OPTIONS, beside: before });
  await agent.nvim.command("Agent");
  await pause(TYPING_MS);
  return await submit(agent);
}

/** With an engine that runs, in a git repository and without one: only in the former a message waits for git. */
export const warm = group(["git_submit", "warm_submit"], async () => {
  await using agent = await startAgent(OPTIONS);
  await using bare = await startFloor();
  await agent.nvim.command("Agent hello");
  await agent.nvim.waitForScreen("· ready");
  const measure = async () => {
    const values: number[] = [];
    const floors: number[] = [];
    for (let run = 0; run < WARM_RUNS; run++) {
      values.push(await submit(agent));
      await agent.nvim.waitForScreen("· ready");
      floors.push(await untilRequest(agent.server, () => send(bare, agent.server)));
      await bare.waitFor("Floor.done");
    }
    return [median(values), median(floors)] as const;
  };
  const [withGit, gitFloor] = await measure();
  await removeRepository(agent);
  const [value, floor] = await measure();
  return {
    git_submit: row("ms", withGit, atMost(LONGEST_GIT_MS + 8), gitFloor),
    warm_submit: row("ms", value, times(1), floor),
  };
});

async function removeRepository({ project }: RunningAgent): Promise<void> {
  await Deno.remove(project.path(".git"), { recursive: true });
}

async function submit({ nvim, server }: RunningAgent): Promise<number> {
  await nvim.keys("<Esc>ihello<Esc>");
  return await untilRequest(server, () => nvim.keys("<CR>"));
}

async function startFloor(): Promise<ChildNvim> {
  const nvim = await ChildNvim.start({ lua: FLOOR });
  await nvim.lua("Floor.open({ width = 60, height = 10, batch = 0 })");
  return nvim;
}

function send(nvim: ChildNvim, server: ModelServer): Promise<unknown> {
  return nvim.lua(`Floor.send(..., "hello")`, server.url);
}

/** Milliseconds until the whole request has come. */
export async function untilRequest(server: ModelServer, act: () => Promise<unknown>): Promise<number> {
  const count = server.requests.length;
  const begun = performance.now();
  await act();
  for (;;) {
    const request = server.requests[count];
    if (request !== undefined) return request.at - begun;
    await pause(1);
  }
}
