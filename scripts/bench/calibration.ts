/** Fixed pieces of work without the project, so that figures of two machines can be compared. */
import { ChildNvim } from "../../tests/support/nvim.ts";
import { group, machineRow, median } from "./row.ts";

const RUNS = 9;
const STARTS = 20;
const TEXT = JSON.stringify(
  Array.from({ length: 20_000 }, (_, id) => ({ id, name: `name ${id}`, tags: ["a", "b"] })),
);

const LUA = `
local start, words = vim.uv.hrtime(), {}
for i = 1, 200000 do words[i % 1000 + 1] = ("word %d"):format(i) end
local text = table.concat(words, " ")
for _ = 1, 20 do vim.json.decode(vim.json.encode(vim.split(text, " "))) end
return (vim.uv.hrtime() - start) / 1e6`;

async function timed(work: () => unknown): Promise<number> {
  const begun = performance.now();
  await work();
  return performance.now() - begun;
}

async function startShells(): Promise<void> {
  for (let count = 0; count < STARTS; count++) await new Deno.Command("sh", { args: ["-c", ":"] }).output();
}

export const calibration = group(
  ["machine_javascript", "machine_lua", "machine_processes"],
  async () => {
    await using nvim = await ChildNvim.start();
    const found = { javascript: [] as number[], lua: [] as number[], processes: [] as number[] };
    for (let run = 0; run < RUNS; run++) {
      found.javascript.push(await timed(() => JSON.stringify(JSON.parse(TEXT))));
      found.lua.push(await nvim.lua<number>(LUA));
      found.processes.push(await timed(startShells));
    }
    return {
      machine_javascript: machineRow("ms", median(found.javascript)),
      machine_lua: machineRow("ms", median(found.lua)),
      machine_processes: machineRow("ms", median(found.processes)),
    };
  },
);
