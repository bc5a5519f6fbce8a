/** What it costs to keep what a command over an overlay has made, from its list to the last file. */
import { checkpointedFolder } from "../../tests/support/checkpoints.ts";
import { copyOf, effectsOf } from "../../tests/support/effects.ts";
import { atMost, group, median, row } from "./row.ts";

const FILES = 1_000;
const RUNS = 5;
const LONGEST_MS = 1_000;

/** The floor is `cp -r` of the same files. */
export const keeping = group(["keep_1000_files"], async () => {
  const values: number[] = [];
  const floors: number[] = [];
  for (let count = 0; count < RUNS; count++) {
    await using folder = await checkpointedFolder({ files: { "README.md": "# bench\n" } });
    await using copy = await copyOf(folder.project.root);
    await copy.run(`mkdir made; for n in $(seq ${FILES}); do echo "export const n = $n;" >made/$n.ts; done`);
    const effects = await effectsOf(folder.project.root, copy.root);
    folder.nextTurn();
    const start = performance.now();
    const { files, left } = await folder.checkpoints.keep(effects, "call", new AbortController().signal);
    values.push(performance.now() - start);
    if (files.length !== FILES || left.length > 0) throw new Error(`only ${files.length} files were kept`);
    const plain = performance.now();
    await copy.run("cp -r made other");
    floors.push(performance.now() - plain);
  }
  return { keep_1000_files: row("ms", median(values), atMost(LONGEST_MS), median(floors)) };
});
