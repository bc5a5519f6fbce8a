/**
 * Tests that share a Neovim, its supervisor and its engine: to start these takes longer than most tests do.
 *
 * ```ts
 * const test = inOneNeovim("undo", { script: "", project: { "a.txt": "one\n" } });
 * test("a turn is taken back", async (agent) => { agent.server.play("say Hello."); … });
 * ```
 */
import { join } from "node:path";
import { type AgentOptions, GREET, type RunningAgent, startAgent } from "./agent.ts";
import type { ChildNvim } from "./nvim.ts";
import { ask } from "./review.ts";

/** What tests replace to answer for the user. */
const KEEP = "_G.own_ui = { select = vim.ui.select, input = vim.ui.input }";

type Body = (agent: RunningAgent) => Promise<void>;

/**
 * Registers one test, with a step for each call of the function that it returns. A step begins with the project's files,
 * one window with an empty buffer, no chat, and a server that knows of nothing before. After one that
 * fails all is started anew, so that the others tell the truth. `files` are opened.
 */
export function inOneNeovim(
  name: string,
  options: AgentOptions,
): (name: string, body: Body, ignore?: boolean) => void {
  const steps: { readonly name: string; readonly body: Body; readonly ignore: boolean }[] = [];
  Deno.test(name, async (test) => {
    let agent: RunningAgent | undefined;
    try {
      for (const { name, body, ignore } of steps) {
        if (agent !== undefined) await reset(agent, options);
        const own: RunningAgent = agent ??= await startAgent({
          ...options,
          lua: `${KEEP}\n${options.lua ?? ""}`,
        });
        if (await test.step({ name, ignore, fn: () => body(own) }) || ignore) continue;
        await own[Symbol.asyncDispose]();
        agent = undefined;
      }
    } finally {
      await agent?.[Symbol.asyncDispose]();
    }
  });
  return (name, body, ignore = false) => {
    steps.push({ name, body, ignore });
  };
}

async function reset(agent: RunningAgent, options: AgentOptions): Promise<void> {
  const { nvim, server, project } = agent;
  const { project: files = GREET, columns = 80, lines = 24, script } = options;
  await nvim.keys("<Esc><C-\\><C-n>");
  await nvim.lua("require('agent').stop()");
  await nvim.waitFor(`require("agent").status():find("ready$")`);
  // What was said of a review last has reached the engine: it would meet the next step's files.
  if (await nvim.lua(`return package.loaded["agent.review.files"] ~= nil`)) await ask(agent);
  await leaveAll(nvim);
  for await (const { name } of Deno.readDir(project.root)) {
    if (name !== ".git") await Deno.remove(join(project.root, name), { recursive: true });
  }
  for (const [path, content] of Object.entries(files)) await project.write(path, content);
  await nvim.resize(columns, lines);
  server.restart(script);
  for (const file of options.files ?? []) await nvim.command(`edit ${file}`);
}

/** Files, lists and messages are gone, and so are the chats with what they showed. */
async function leaveAll(nvim: ChildNvim): Promise<void> {
  await nvim.lua(`
    vim.ui.select, vim.ui.input = _G.own_ui.select, _G.own_ui.input
    local chats = require("agent.chat")
    vim.iter(chats.list()):each(chats.close)
    vim.cmd("tabonly! | only! | enew!")
    for _, buffer in ipairs(vim.api.nvim_list_bufs()) do
      if buffer ~= vim.api.nvim_get_current_buf() then
        vim.api.nvim_buf_delete(buffer, { force = true })
      end
    end
    vim.fn.setqflist({}, "f")
    vim.cmd("messages clear | redraw!")`);
}
