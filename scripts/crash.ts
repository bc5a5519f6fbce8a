/**
 * Kills the engine, the supervisor and Neovim at random points of a turn of 20 tool calls: `deno task crash [trials]`,
 * 100 unless told. A line for each trial, and last "crash: N trials, N lost, N corrupt"; the exit code is 0 if
 * nothing was.
 */
import { runTrial, VICTIMS, wholeTurn } from "../tests/crash/trial.ts";
import { toolEnvironment } from "./environment.ts";

const trials = Number(Deno.args[0] ?? 100);
if (!Number.isInteger(trials) || trials < 1) {
  console.error(`Cannot run ${Deno.args[0]} trials: give a whole number of at least 1.`);
  Deno.exit(2);
}
for (const [name, value] of Object.entries(await toolEnvironment(["nvim", "git", "rg", "bwrap"]))) {
  Deno.env.set(name, value);
}
const duration = await wholeTurn();
console.log(`the whole turn takes ${Math.round(duration)} ms`);
let lost = 0;
let corrupt = 0;
for (let number = 0; number < trials; number++) {
  const victim = VICTIMS[number % VICTIMS.length] ?? "engine";
  const at = Math.round(Math.random() * duration);
  const outcome = await runTrial({ victim, at });
  lost += outcome.lost.length;
  corrupt += outcome.corrupt.length;
  const problems = [...outcome.lost, ...outcome.corrupt];
  const verdict = problems.length === 0 ? "held" : "BROKEN";
  console.log(`${verdict}  ${victim} killed after ${at} ms, with ${outcome.shown} updates on screen`);
  for (const problem of problems) console.log(`    ${problem}`);
}
console.log(`crash: ${trials} trials, ${lost} lost, ${corrupt} corrupt`);
Deno.exit(lost + corrupt === 0 ? 0 : 1);
