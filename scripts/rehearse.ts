/**
 * Random commands over overlays, compared with running them: `deno run -A scripts/rehearse.ts [sequences] [seed]`, 300
 * unless told, from a random seed. The exit code is 0 if the project was always as before and each list was exact.
 */
import fc from "fast-check";
import { playSequence } from "../tests/support/rehearsal_play.ts";
import { sequences } from "../tests/support/shell_sequences.ts";
import { toolEnvironment } from "./environment.ts";

const [count = 300, seed = Math.floor(Math.random() * 1_000_000)] = Deno.args.map(Number);
for (const [name, value] of Object.entries(await toolEnvironment(["git", "bwrap"]))) {
  Deno.env.set(name, value);
}
const store = fc.constantFrom("memory" as const, "disk" as const);
const started = performance.now();
const { failed, numRuns, counterexample, errorInstance } = await fc.check(
  fc.asyncProperty(sequences, store, playSequence),
  { numRuns: count, seed },
);
if (failed) console.error(counterexample, errorInstance);
console.log(
  `rehearse: ${numRuns} sequences from seed ${seed}, ${Math.round(performance.now() - started)} ms`,
);
Deno.exit(failed ? 1 : 0);
