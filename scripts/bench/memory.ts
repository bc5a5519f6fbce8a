/**
 * The proportional set size of supervisor and engine, against two of Deno that do nothing. Every other process of Deno
 * on the machine, this one among them, lowers both: its code is shared.
 */
import { startAgent } from "../../tests/support/agent.ts";
import { pause } from "../../tests/support/project.ts";
import { helperMegabytes, megabytes } from "./processes.ts";
import { FILES, readAndEdit, turn } from "./rounds.ts";
import { atMost, group, row } from "./row.ts";
import { markdown } from "./stream_sides.ts";

/** After it nothing goes on, and V8 has given back what it gives back by itself. */
const SETTLED_MS = 2_000;
const FLOOD_TOKENS = 5_000;

export const memory = group(
  ["memory_idle_pss", "memory_flood_pss", "memory_rounds_pss"],
  async () => {
    const [idle, flood, rounds] = await ours();
    const floor = await bare();
    return {
      memory_idle_pss: row("MB", idle, atMost(105), floor),
      memory_flood_pss: row("MB", flood, atMost(120), floor),
      memory_rounds_pss: row("MB", rounds, atMost(120), floor),
    };
  },
);

/** With a session that has begun; after a long answer at once; after a turn of many rounds. */
async function ours(): Promise<readonly [idle: number, flood: number, rounds: number]> {
  await using agent = await startAgent({
    script: "say Hello.",
    options: "sessions = { title = false }",
    project: FILES,
  });
  const settled = async () => {
    await pause(SETTLED_MS);
    return helperMegabytes(agent.nvim.pid);
  };
  await agent.nvim.command("Agent hello");
  await agent.nvim.waitForScreen("· ready");
  const idle = await settled();
  await turn(agent, `${markdown(FLOOD_TOKENS)}\nsay\nsay Done.`);
  const flood = await settled();
  await turn(agent, readAndEdit(0));
  return [idle, flood, await settled()];
}

async function bare(): Promise<number> {
  const args = ["eval", "setInterval(() => {}, 1e9)"];
  const start = () => new Deno.Command(Deno.execPath(), { args, stdout: "null", stderr: "null" }).spawn();
  const both = [start(), start()];
  await pause(SETTLED_MS);
  const found = megabytes(both.map(({ pid }) => pid));
  for (const process of both) process.kill("SIGKILL");
  await Promise.all(both.map(({ status }) => status));
  return found;
}
