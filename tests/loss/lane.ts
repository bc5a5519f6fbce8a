/**
 * Plays trials one after the other in a process of their own: `lane.ts files|editor|saves|drafts|openings SEED …`. A line for each on
 * standard output, a `Played` as JSON.
 */
import { messageOf } from "../../denops/agent/shared/errors.ts";

/** What is left of one trial. */
export interface Played {
  readonly seed: number;
  /** What was lost, a line each. */
  readonly lost: readonly string[];
  /** Milliseconds. */
  readonly took: number;
}

/**
 * `files`: tools, commands, undo and crashes on a tree of files. `editor`: a user who types in Neovim meanwhile. `saves`: a
 * user who saves while Neovim looks at the file. `drafts`: unsent messages when Neovim ends. `openings`: messages while
 * something slow is opened, in two projects.
 */
export type Kind = "files" | "editor" | "saves" | "drafts" | "openings";

interface Trials {
  runTrial(seed: number): Promise<readonly string[]>;
  /** Ends what the trials share. */
  endTrials?(): Promise<void>;
}

async function trialsOf(kind: string | undefined): Promise<Trials> {
  if (kind === "files") return await import("./files/trial.ts");
  if (kind === "editor") return await import("./editor/trial.ts");
  if (kind === "saves") return await import("./saves/trial.ts");
  if (kind === "drafts") return await import("./drafts/trial.ts");
  if (kind === "openings") return await import("./openings/trial.ts");
  throw new Error(`There are no trials of ${kind}.`);
}

if (import.meta.main) {
  const [kind, ...seeds] = Deno.args;
  const trials = await trialsOf(kind);
  for (const seed of seeds.map(Number)) {
    const start = performance.now();
    // A trial that breaks down is no trial that held.
    const lost = await trials.runTrial(seed).catch((error) => [`broke down: ${messageOf(error)}`]);
    const played: Played = { seed, lost, took: Math.round(performance.now() - start) };
    console.log(JSON.stringify(played));
  }
  await trials.endTrials?.();
  Deno.exit(0);
}
