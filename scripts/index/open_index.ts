/** An index of a folder for the measurements, with the files that ripgrep lists. */
import { join } from "node:path";
import { ProjectIndex } from "../../denops/agent/engine/index/project_index.ts";
import type { CodeIndex, MeaningAnswer } from "../../denops/agent/engine/ports/code_index.ts";
import type { Search } from "../../denops/agent/engine/ports/search.ts";
import type { IndexState } from "../../denops/agent/protocol/results/index.ts";

/** Files of an answer. */
const MOST = 10;

export interface FolderIndex {
  readonly index: CodeIndex;
  ask(question: string): Promise<MeaningAnswer>;
  /** Resolves when the index is complete. */
  built(): Promise<IndexState>;
}

/** @param root real path @param path of the database @param leftOut names that are not indexed */
export function openIndex(root: string, path: string, leftOut: readonly string[] = []): FolderIndex {
  const listed = listOf(root, leftOut);
  const search = { files: async () => ({ paths: await listed, more: false }) } as unknown as Search;
  const index = new ProjectIndex(path, [root]).of(search);
  return {
    index,
    ask: (question) =>
      index.ask({
        question,
        most: MOST,
        pathOf: (name) => Deno.realPath(join(root, name)).catch(() => undefined),
      }, new AbortController().signal),
    async built() {
      for (;;) {
        const state = await index.state();
        if (state.problem !== undefined) throw new Error(state.problem);
        if (state.state === "ready") return state;
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
    },
  };
}

async function listOf(root: string, leftOut: readonly string[]): Promise<readonly string[]> {
  const args = [
    "--no-config",
    "--files",
    "--hidden",
    "--iglob=!.git/",
    ...leftOut.map((glob) => `--glob=!${glob}`),
  ];
  const { stdout } = await new Deno.Command("rg", { args, cwd: root, stderr: "null" }).output();
  return new TextDecoder().decode(stdout).split("\n").filter((name) => name !== "").sort();
}

/** Names of the files of an answer, best first. */
export function filesOf({ hits }: MeaningAnswer): readonly string[] {
  return [...new Set(hits.map(({ name }) => name))];
}
