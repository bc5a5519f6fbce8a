/**
 * Measures what a user feels, each beside a floor from the same run: `deno task bench`.
 * Numbers of one machine at one time; what counts is the ratio, and the limits that the project has set itself.
 */
import { startAgent } from "../tests/support/agent.ts";
import { ChildNvim } from "../tests/support/nvim.ts";
import { PROJECT, toolEnvironment } from "./environment.ts";

for (const [name, value] of Object.entries(await toolEnvironment(["nvim", "git", "bwrap"]))) {
  Deno.env.set(name, value);
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? NaN;
}

function print(what: string, value: number, limit: number, floor: string): void {
  const verdict = value <= limit ? "" : "  OVER";
  console.log(
    `${what.padEnd(44)} ${value.toFixed(2).padStart(8)} ms   limit ${limit} ms   ${floor}${verdict}`,
  );
}

/** Sourcing plugin/agent.lua in a Neovim that has just started, against sourcing an empty file. */
async function startup(): Promise<void> {
  const times: number[] = [];
  const floors: number[] = [];
  const empty = await Deno.makeTempFile({ suffix: ".lua" });
  for (let run = 0; run < 15; run++) {
    await using nvim = await ChildNvim.start();
    const measure = `local t = vim.uv.hrtime() vim.cmd.source(...) return (vim.uv.hrtime() - t) / 1e6`;
    floors.push(await nvim.lua<number>(measure, empty));
    times.push(await nvim.lua<number>(measure, `${PROJECT}/plugin/agent.lua`));
  }
  await Deno.remove(empty);
  print("plugin/agent.lua at startup", median(times), 0.5, `an empty file: ${median(floors).toFixed(2)} ms`);
}

/** From the key that sends to the whole request at the server, once the engine runs. */
async function submit(): Promise<void> {
  const script = "say Hello there, this is the answer.\n---\nrepeat\nsay Yes.";
  await using agent = await startAgent({ script });
  const { nvim, server } = agent;
  await nvim.command("Agent hello");
  await nvim.waitForScreen("this is the answer");
  await nvim.waitForScreen("· ready");
  const times: number[] = [];
  const floors: number[] = [];
  for (let run = 0; run < 20; run++) {
    await nvim.keys(`iquestion ${run}<Esc>`);
    const count = server.requests.length;
    const sent = performance.now();
    await nvim.keys("<CR>");
    await nvim.waitForScreen("· ready");
    await nvim.waitForScreen(() => server.requests.length > count);
    times.push((server.requests[count]?.at ?? NaN) - sent);
    const before = performance.now();
    await nvim.request("nvim_eval", "1");
    floors.push(performance.now() - before);
  }
  print(
    "key → request at the server, warm",
    median(times),
    15,
    `one request to Neovim: ${median(floors).toFixed(2)} ms`,
  );
}

/** 5,000 tokens as fast as they go: the longest time between two paints until the last token is on screen. */
async function flood(): Promise<void> {
  const script = "say Hello there.\n---\nflood 5000\nsay\nsay The end.";
  await using agent = await startAgent({ script, columns: 120, lines: 40 });
  const { nvim } = agent;
  await nvim.command("Agent hello");
  await nvim.waitForScreen("Hello there.");
  await nvim.waitForScreen("· ready");
  await nvim.keys("igo<Esc>");
  const from = nvim.paints.length;
  const start = performance.now();
  await nvim.keys("<CR>");
  await nvim.waitForScreen("The end.", { timeout: 60_000 });
  const paints = nvim.paints.slice(from).map(({ at }) => at);
  const gaps = paints.slice(1).map((at, index) => at - (paints[index] ?? at));
  const whole = `${paints.length} paints in ${(performance.now() - start).toFixed(0)} ms`;
  print("5,000 tokens: longest time between paints", Math.max(...gaps), 50, whole);
}

/** The first message of all, with the engine's start. */
async function coldStart(): Promise<void> {
  const times: number[] = [];
  for (let run = 0; run < 5; run++) {
    await using agent = await startAgent({ script: "say Hello there, here is the answer." });
    const start = performance.now();
    await agent.nvim.command("Agent hello");
    await agent.nvim.waitForScreen("here is the answer");
    times.push(performance.now() - start);
  }
  print("first message → answer on screen, cold", median(times), 1000, "supervisor and engine start");
}

await startup();
await submit();
await flood();
await coldStart();
