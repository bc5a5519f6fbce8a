/**
 * One trial: a user types and saves in bursts, in a real Neovim, which looks at the file again and again meanwhile.
 * Nobody else writes the file, so every line of it must be there in the end, and Neovim has nothing to say.
 */
import { PLUGIN } from "../../support/agent.ts";
import { ChildNvim } from "../../support/nvim.ts";
import { pause, type Scratch, scratch } from "../../support/project.ts";
import { Random } from "../files/random.ts";
import { SharedStage } from "../shared_stage.ts";

/** How the user's text reaches the disk. */
const WAYS = ["write", "auto-save", "format"] as const;

interface SavePlan {
  readonly way: (typeof WAYS)[number];
  readonly lines: readonly string[];
  readonly writebackup: boolean;
  /** Other autocommands run when the auto-save plugin writes. */
  readonly nested: boolean;
  /** Milliseconds before each line is typed and saved. */
  readonly pauses: readonly number[];
  /** Milliseconds between two looks. */
  readonly lookPause: number;
}

function planOf(seed: number): SavePlan {
  const random = new Random(seed);
  const count = random.int(60, 2_000);
  const width = random.int(10, 200);
  return {
    way: random.pick(WAYS) ?? "write",
    lines: Array.from({ length: count }, (_, at) => `line ${at + 1} x`.padEnd(width, "x")),
    writebackup: random.chance(0.5),
    nested: random.chance(0.5),
    pauses: Array.from({ length: random.int(2, 8) }, () => random.int(0, 15)),
    lookPause: random.int(0, 4),
  };
}

/** `look` does what an engine's notification of a change does. The formatter waits for an answer, as language servers do. */
const PREPARE = `
vim.o.hidden, vim.o.autoread, vim.o.updatetime = true, true, 50
local reload = require("agent.reload")
_G.started, _G.ended, _G.notices = 0, 0, {}
function _G.look(path)
  _G.started = _G.started + 1
  reload.file_modified({ path = path, kind = "modified" }, function(result)
    _G.ended = _G.ended + 1
    table.insert(_G.notices, result.notice)
  end)
end
local group = vim.api.nvim_create_augroup("saves", {})
function _G.begin(path, way, writebackup, nested)
  vim.api.nvim_clear_autocmds({ group = group })
  _G.notices = {}
  vim.o.writebackup = writebackup
  if way == "auto-save" then
    vim.api.nvim_create_autocmd({ "InsertLeave", "TextChanged" }, { group = group, nested = nested, command = "silent! write" })
  elseif way == "format" then
    vim.api.nvim_create_autocmd("BufWritePre", { group = group, callback = function()
      local answered = false
      vim.defer_fn(function() answered = true end, 2)
      vim.wait(1000, function() return answered end, 1)
      vim.cmd([[silent! keeppatterns %s/ \\+$//e]])
    end })
  end
  vim.cmd.edit(path)
end`;

interface Stage extends AsyncDisposable {
  readonly nvim: ChildNvim;
  readonly folder: Scratch;
}

async function open(): Promise<Stage> {
  const folder = await scratch();
  const nvim = await ChildNvim.start({ runtime: [PLUGIN] });
  await nvim.lua(PREPARE);
  return {
    nvim,
    folder,
    async [Symbol.asyncDispose]() {
      await nvim[Symbol.asyncDispose]();
      await folder[Symbol.asyncDispose]();
    },
  };
}

/** @returns a line for each thing that was lost; the same seed gives the same plan */
export async function runTrial(seed: number): Promise<readonly string[]> {
  return await SHARED.play((stage) => play(seed, planOf(seed), stage));
}

export const endTrials = () => SHARED[Symbol.asyncDispose]();

const SHARED = new SharedStage<Stage>(open);

async function play(seed: number, plan: SavePlan, { nvim, folder }: Stage): Promise<readonly string[]> {
  const name = `file${seed}.txt`;
  const path = folder.path(name);
  await folder.write(name, plan.lines.join("\n") + "\n");
  await nvim.lua("_G.begin(...)", path, plan.way, plan.writebackup, plan.nested);
  const blanks = plan.way === "format" ? "  " : "";
  const save = plan.way === "auto-save" ? "" : ":silent write<CR>";
  let saving = true;
  const looking = (async () => {
    while (saving) {
      await nvim.lua("_G.look(...)", path);
      await pause(plan.lookPause);
    }
  })();
  for (const [index, wait] of plan.pauses.entries()) {
    await pause(wait);
    await nvim.keys(`Gotyped ${index}${blanks}<Esc>${save}`);
  }
  saving = false;
  await looking;
  await nvim.waitFor("_G.started == _G.ended");
  // The user goes on with what the buffer shows.
  await nvim.command("silent write");
  const expected = [...plan.lines, ...plan.pauses.map((_, index) => `typed ${index}`)];
  const buffer = await nvim.lua<string[]>("return vim.api.nvim_buf_get_lines(0, 0, -1, true)");
  const disk = (await folder.read(name)).split("\n").slice(0, -1);
  const notices = await nvim.lua<string[]>("return _G.notices");
  await nvim.command("silent bwipeout!");
  await Deno.remove(path);
  return [
    ...differences("the buffer", expected, buffer),
    ...differences("the disk", expected, disk),
    ...notices.map((text) => `Neovim said: ${text}`),
  ].map((line) => `seed ${seed}, ${plan.way}, ${plan.writebackup ? "" : "no"}writebackup: ${line}`);
}

function differences(
  where: string,
  expected: readonly string[],
  actual: readonly string[],
): readonly string[] {
  if (expected.length === actual.length && expected.every((line, at) => line === actual[at])) return [];
  const missing = expected.filter((line) => !actual.includes(line));
  return [
    `${where} has ${actual.length} of ${expected.length} lines, without ${missing.slice(0, 3).join(", ")}`,
  ];
}
