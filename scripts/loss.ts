/**
 * Random interleavings of user and agent on files and in Neovim, compared with a reference: `deno task loss
 * [trials] [seed]`, 300 unless told, from a random seed. A line for each trial that lost something, with the seed
 * that plays it again, and last "loss: N trials, N lost"; the exit code is 0 if nothing was.
 */
import { play } from "../tests/loss/play.ts";
import { toolEnvironment } from "./environment.ts";

const [trials = 300, first = Math.floor(Math.random() * 1_000_000)] = Deno.args.map(Number);
if (!Number.isInteger(trials) || trials < 1 || !Number.isInteger(first)) {
  console.error("Give whole numbers: deno task loss [trials] [seed].");
  Deno.exit(2);
}
for (const [name, value] of Object.entries(await toolEnvironment(["nvim", "git", "rg", "bwrap"]))) {
  Deno.env.set(name, value);
}
const start = performance.now();
const times = new Map<string, number[]>();
const played = await play(trials, first, ({ lane, seed, lost, took }) => {
  times.set(lane, [...times.get(lane) ?? [], took]);
  if (lost.length === 0) return;
  console.log(`LOST  ${lane}, seed ${seed}`);
  for (const line of lost) console.log(`    ${line}`);
});
for (const [lane, all] of times) {
  const median = all.sort((a, b) => a - b)[Math.floor(all.length / 2)];
  console.log(`${lane}: ${all.length} trials, ${median} ms each`);
}
console.log(`seeds from ${first}, ${Math.round((performance.now() - start) / 1000)} s`);
const lost = played.filter((trial) => trial.lost.length > 0).length;
console.log(`loss: ${trials} trials, ${lost} lost`);
Deno.exit(lost === 0 ? 0 : 1);
