/** What the tests of reviews share. */
import type { RequestResult } from "../../denops/agent/protocol/requests.ts";
import { baseUrl, PLUGIN, providerOptions, type RunningAgent, SECRET, startAgent } from "./agent.ts";
import { ChildNvim } from "./nvim.ts";
import { sharedAgent, type SharedOptions } from "./shared_agent.ts";

export const FILE = Array.from({ length: 12 }, (_, index) => `line ${index + 1}`).join("\n") + "\n";

/** One turn that makes these calls, after it has read the file. */
export function turn(...calls: readonly string[]): string {
  return [`call read_file {"path": "a.txt"}`, ...calls, "say Done."].join("\n---\n");
}

export function write(content: string, path = "a.txt"): string {
  return `call write_file ${JSON.stringify({ path, content })}`;
}

export interface ReviewOptions extends SharedOptions {
  /** What the user does before the turn. */
  readonly before?: (agent: RunningAgent) => Promise<unknown>;
}

/** After a turn, with a.txt in a window unless told; in a program of its own, which may be ended. */
export async function reviewed(options: ReviewOptions): Promise<RunningAgent> {
  return await reviewIn(startAgent, options);
}

/** After a turn in a program that the tests of a file share, see {@link sharedAgent}. */
export async function reviewedShared(options: ReviewOptions): Promise<RunningAgent> {
  return await reviewIn(sharedAgent, options);
}

async function reviewIn(
  start: (options: SharedOptions) => Promise<RunningAgent>,
  { before, ...options }: ReviewOptions,
): Promise<RunningAgent> {
  const agent = await start({ project: { "a.txt": FILE }, files: ["a.txt"], ...options });
  try {
    await keepEarlier(agent);
    await before?.(agent);
    await edited(agent);
    return agent;
  } catch (error) {
    await agent[Symbol.asyncDispose]();
    throw error;
  }
}

/** A turn, to its end. */
async function edited({ nvim }: RunningAgent): Promise<void> {
  await nvim.command("Agent! edit it");
  await nvim.waitFor(`require("agent").status():find("ready$")`);
}

/** A turn in a Neovim that had others before, of which nothing waits any more. */
export async function review(
  agent: RunningAgent,
  script: string,
  before?: (agent: RunningAgent) => Promise<unknown>,
): Promise<void> {
  await keepEarlier(agent);
  agent.server.play(script);
  await before?.(agent);
  await edited(agent);
}

/** Nothing of the tests before waits to be reviewed. Where nothing does, that is not said: it would come later. */
async function keepEarlier(agent: RunningAgent): Promise<void> {
  if (!await agent.nvim.lua(`return package.loaded["agent.review.files"] ~= nil`)) return;
  if ((await ask(agent)).files.length > 0) await agent.nvim.command("silent! Agent keep all");
}

export interface ShownHunk {
  /** Line of the buffer, from 1. */
  readonly row: number;
  readonly added: readonly string[];
  readonly removed: readonly string[];
}

/** The hunks as they are drawn in the current buffer, by their extmarks. */
export function hunks({ nvim }: RunningAgent): Promise<ShownHunk[]> {
  return nvim.lua<ShownHunk[]>(`
    local namespace = vim.api.nvim_get_namespaces()["agent.review"]
    local last = vim.api.nvim_buf_line_count(0)
    return vim.tbl_map(function(mark)
      local _, row, _, details = unpack(mark)
      local removed = {}
      for _, line in ipairs(details.virt_lines or {}) do
        table.insert(removed, (line[1][1]:gsub(" +$", "")))
      end
      local ending = details.hl_group and details.end_row or row
      local below = details.virt_lines and not details.virt_lines_above
      local empty = last == 1 and vim.api.nvim_buf_get_lines(0, 0, 1, true)[1] == ""
      return {
        row = (below and not empty and ending == row) and row + 2 or row + 1,
        added = vim.api.nvim_buf_get_lines(0, row, ending, true),
        removed = removed,
      }
    end, vim.api.nvim_buf_get_extmarks(0, namespace, 0, -1, { details = true }))`);
}

/** Waits until so many hunks are drawn. */
export function settledSoon({ nvim }: RunningAgent, count: number): Promise<unknown> {
  return nvim.waitFor(
    `#vim.api.nvim_buf_get_extmarks(0, vim.api.nvim_get_namespaces()["agent.review"], 0, -1, {}) == ${count}`,
  );
}

export function lines({ nvim }: RunningAgent): Promise<string[]> {
  return nvim.lua<string[]>("return vim.api.nvim_buf_get_lines(0, 0, -1, true)");
}

export function modified({ nvim }: RunningAgent): Promise<boolean> {
  return nvim.lua<boolean>("return vim.bo.modified");
}

/** What the engine says that waits; its answers come in order, so all that was said before has arrived. */
export async function ask({ nvim }: RunningAgent): Promise<RequestResult<"review">> {
  await nvim.lua(`
    _G.answer = nil
    require("agent.review.files").request(nil, "review", { texts = true }, function(result, problem)
      _G.answer = result or { problem = problem }
    end)`);
  return await nvim.waitFor<RequestResult<"review">>("_G.answer");
}

/** Another Neovim on the same project and state. */
export async function restarted(agent: RunningAgent, files: readonly string[]): Promise<RunningAgent> {
  const { server, project, state } = agent;
  const options = providerOptions("openai_chat", baseUrl("openai_chat", server), state.root);
  const nvim = await ChildNvim.start({
    cwd: project.root,
    runtime: [PLUGIN],
    env: { TEST_API_KEY: SECRET },
    lua: `vim.g.agent = { ${options} }`,
    files,
  });
  return { ...agent, nvim, [Symbol.asyncDispose]: () => nvim[Symbol.asyncDispose]() };
}
