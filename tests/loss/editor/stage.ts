/** One Neovim and one engine that many trials play on, one after the other. */
import { ModelServer } from "../../model/model_server.ts";
import { type RunningAgent, startAgent } from "../../support/agent.ts";
import type { ChildNvim } from "../../support/nvim.ts";
import { DEFAULT_TIMEOUT, pause, within } from "../../support/project.ts";

/** With every trial the session grows, and with it each request. */
const MOST_TRIALS = 20;

const OPTIONS =
  'files = { safe_to_write = { { "**", true }, { "**/ask*", false } } }, sessions = { title = false }';

const PREPARE = `
vim.o.hidden, vim.o.fixendofline, vim.o.updatetime = true, false, 100
vim.o.fileencodings, vim.o.fileformats = "ucs-bom,utf-8,latin1", "unix,dos,mac"
vim.o.foldmethod = "manual"
_G.told, _G.gone = {}, {}
local notify = vim.notify
vim.notify = function(text, ...)
  table.insert(_G.told, text)
  return notify(text, ...)
end
-- What the user takes away with his own keys.
local function taking(keys)
  return function()
    local first, last = vim.fn.foldclosed("."), vim.fn.foldclosedend(".")
    first, last = first > 0 and first or vim.fn.line("."), last > 0 and last or vim.fn.line(".")
    vim.list_extend(_G.gone, vim.api.nvim_buf_get_lines(0, first - 1, last, false))
    return keys
  end
end
vim.keymap.set("n", "<F5>", taking("cc"), { expr = true })
vim.keymap.set("n", "<F6>", taking("dd"), { expr = true })`;

export class Stage implements AsyncDisposable {
  readonly #agent: RunningAgent;
  #trials = 0;

  private constructor(agent: RunningAgent) {
    this.#agent = agent;
  }

  static async open(): Promise<Stage> {
    const agent = await startAgent({
      script: "say Nothing yet.",
      project: { "README.md": "# nothing\n" },
      options: OPTIONS,
      lua: PREPARE,
      columns: 100,
      lines: 30,
    });
    return new Stage(agent);
  }

  /** A trial begins. False if it is to be played on a new one. */
  begin(): boolean {
    this.#trials += 1;
    return this.#trials <= MOST_TRIALS;
  }

  get nvim(): ChildNvim {
    return this.#agent.nvim;
  }

  get server(): ModelServer {
    return this.#agent.server;
  }

  path(name: string): string {
    return this.#agent.project.path(name);
  }

  /** Types, and answers what Neovim asks so that nothing is read or written. @returns false if it asked */
  async type(keys: string): Promise<boolean> {
    await this.nvim.keys(keys);
    return !await this.answer();
  }

  /** Answers what Neovim asks, if it does. @returns true if that was a question and no mere "Press ENTER" */
  async answer(): Promise<boolean> {
    let asked = false;
    for (let tries = 0; tries < 20; tries++) {
      const outcome = await within(DEFAULT_TIMEOUT, this.nvim.request("nvim_get_mode"));
      const mode = outcome.done ? outcome.value : undefined;
      if (typeof mode !== "object" || mode === null || !("mode" in mode)) return asked;
      if (!/^r/.test(String(mode.mode))) return asked;
      const isQuestion = mode.mode === "r?";
      asked ||= isQuestion;
      const answer = !isQuestion ? "<CR>" : this.nvim.text().includes("[O]K") ? "o" : "n";
      await this.nvim.request("nvim_input", answer);
      await pause(5);
    }
    return asked;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#agent[Symbol.asyncDispose]();
  }
}
