/** A search over a million lines as tools do it, against ripgrep alone with the same pattern. */
import { search } from "../../denops/agent/supervisor/project/search.ts";
import { scratch } from "../../tests/support/project.ts";
import { group, median, row, times } from "./row.ts";

const RUNS = 9;
const FILES = 2_000;
const LINES = 500;
const QUERY = "value77777";

export const searching = group(["search_million_lines"], async () => {
  await using tree = await scratch();
  const line = (number: number) =>
    `const value${number} = compute(${number}); // some text that fills the line`;
  for (let file = 0; file < FILES; file++) {
    const lines = Array.from({ length: LINES }, (_, index) => line(file * LINES + index));
    await tree.write(`src/dir${file % 40}/file${file}.ts`, lines.join("\n"));
  }
  const request = {
    op: "grep",
    sessionId: "",
    query: QUERY,
    isRegex: false,
    path: "",
    case: "smart",
    context: 1,
    most: 200,
  } as const;
  const rules = { deny_read: ["**/.env"], read_rules: { deny: [], ask: [] } };
  const options = { roots: [tree.root], rules, sandboxed: true };
  const args = ["--no-config", "--fixed-strings", "--smart-case", "--context=1", "--hidden", QUERY, "."];
  const values: number[] = [];
  const floors: number[] = [];
  for (let run = 0; run < RUNS; run++) {
    const begun = performance.now();
    await search(request, options, new AbortController().signal);
    values.push(performance.now() - begun);
    const bare = performance.now();
    await new Deno.Command("rg", { args, cwd: tree.root }).output();
    floors.push(performance.now() - bare);
  }
  return { search_million_lines: row("ms", median(values), times(1.15), median(floors)) };
});
