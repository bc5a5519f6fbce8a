/** From <C-c> to the word on the screen and to the end of the connection, and what Neovim feels of a huge answer. */
import { type RunningAgent, startAgent } from "../../tests/support/agent.ts";
import { reached } from "../../tests/support/server.ts";
import { atMost, group, median, row } from "./row.ts";

const RUNS = 10;
/** Milliseconds from a key to what it does. */
const AT_ONCE_MS = 100;
/** Milliseconds after which a user feels that Neovim hangs. */
const FROZEN_MS = 120;
const OPTIONS = { script: "", options: "sessions = { title = false }" };

const STREAM = "say The first half\nwait here\nsay never";
const SUBAGENTS = `call subagent {"title": "One", "task": "task one"}
call subagent {"title": "Two", "task": "task two"}
---
when task one
wait one
---
when task two
wait two`;

export const stopping = group(["stop_painted", "stop_closed", "stop_subagents_painted"], async () => {
  await using agent = await startAgent(OPTIONS);
  const painted: number[] = [];
  const closed: number[] = [];
  const subagents: number[] = [];
  for (let run = 0; run < RUNS; run++) {
    await begin(agent, STREAM, ["here"], "The first half");
    const gone = agent.server.aborted();
    const from = performance.now();
    painted.push(await stop(agent));
    await gone;
    closed.push(Math.max(0, performance.now() - from));
    await agent.nvim.waitForScreen("· ready");
    await begin(agent, SUBAGENTS, ["one", "two"], "explore: Two");
    subagents.push(await stop(agent));
    await agent.nvim.waitForScreen("· ready");
  }
  return {
    stop_painted: row("ms", median(painted), atMost(AT_ONCE_MS)),
    stop_closed: row("ms", median(closed), atMost(AT_ONCE_MS)),
    stop_subagents_painted: row("ms", median(subagents), atMost(AT_ONCE_MS)),
  };
});

/** A turn in a new chat, up to these pauses. Until it shows the text, <C-c> may be Neovim's own interrupt. */
async function begin(
  { nvim, server }: RunningAgent,
  script: string,
  pauses: readonly string[],
  text: string,
): Promise<void> {
  server.restart(script);
  await nvim.command("Agent new");
  await nvim.command("Agent Hello");
  for (const name of pauses) await reached(server, name);
  await nvim.waitForScreen(text);
}

async function stop({ nvim }: RunningAgent): Promise<number> {
  const from = performance.now();
  const painted = nvim.waitForScreen("Stopped.").then(() => performance.now());
  await nvim.keys("<C-c>");
  return await painted - from;
}

/** The longest that Neovim takes to answer a request while an answer of 10 MB comes in. */
export const hugeAnswer = group(["huge_answer_longest"], async () => {
  await using agent = await startAgent({ ...OPTIONS, script: "big 10000000" });
  const { nvim } = agent;
  await nvim.command("Agent Hello");
  let longest = 0;
  for (let isReady = false; !isReady;) {
    const from = performance.now();
    isReady = (await nvim.lua<string>("return require('agent').status()")).endsWith("ready");
    longest = Math.max(longest, performance.now() - from);
  }
  return { huge_answer_longest: row("ms", longest, atMost(FROZEN_MS)) };
});
