/**
 * A real Neovim in a child process with a screen attached, driven as a user would drive it.
 *
 * The screen is what Neovim draws, no more and no less: see {@link Screen}. The start is the one of
 * `:help ui-startup`: Neovim reads nothing until the screen is attached.
 */
import { MsgpackRpc } from "../../denops/agent/shared/msgpack_rpc.ts";
import type { CellStyle, Picture, Position } from "./grid.ts";
import { type ChildOptions, type NvimProcess, spawnNvim } from "./nvim_process.ts";
import { DEFAULT_TIMEOUT, type Outcome, pauseBetweenLooks, type WaitOptions, within } from "./project.ts";
import { type Paint, Screen, type Shows } from "./screen.ts";

export type { CellStyle, ChildOptions, Paint, Position, Shows, WaitOptions };

interface Mode {
  readonly mode: string;
  /** Requests are left lying until the user presses a key; only Neovim's "fast" ones are answered. */
  readonly blocking: boolean;
}

/** The pause between looks at the mode while an answer is due. */
const LOOK = 20;
/** `nvim_get_mode` is answered even at a prompt; later than this, Neovim is busy. */
const MODE_LIMIT = 200;

const PREPARE = `
local folders = ...
for i = #folders, 1, -1 do vim.opt.runtimepath:prepend(folders[i]) end
vim.api.nvim_create_autocmd('VimEnter', { once = true, callback = function()
  -- Later, so that the plugins' own autocommands for VimEnter have run.
  vim.schedule(function() vim.rpcnotify(1, 'entered') end)
end })`;

/** Neovim answered a request with an error; `message` is its text. */
export class NvimError extends Error {
  override readonly name = "NvimError";
}

/** How msgpack-RPC ends a request that failed. */
function isNamed(error: unknown, name: "RpcError" | "RpcClosed"): error is Error {
  return error instanceof Error && error.name === name;
}

export class ChildNvim implements AsyncDisposable {
  readonly #process: NvimProcess;
  readonly #rpc: MsgpackRpc;
  readonly #screen = new Screen();
  readonly #entered = Promise.withResolvers<void>();

  private constructor(process: NvimProcess) {
    this.#process = process;
    const refuse = (method: string) => {
      throw new Error(`The tests answer no ${method}`);
    };
    this.#rpc = new MsgpackRpc(process.pipe, refuse, (method, params) => {
      if (method === "redraw") this.#screen.redraw(params);
      if (method === "entered") this.#entered.resolve();
    });
    this.#rpc.closed.then(() => this.#screen.end());
  }

  /**
   * Starts Neovim; it is past VimEnter and has drawn its first screen. If it asks the user something
   * before that (a start-up error of several lines does), that is an error with the screen in it,
   * unless `allowPrompt` is set.
   */
  static async start(options: ChildOptions = {}): Promise<ChildNvim> {
    const child = new ChildNvim(await spawnNvim(options));
    try {
      await child.#enter(options);
      return child;
    } catch (error) {
      await child[Symbol.asyncDispose]();
      throw error;
    }
  }

  get pid(): number {
    return this.#process.pid;
  }

  get exited(): Promise<Deno.CommandStatus> {
    return this.#process.exited;
  }

  /** Each flush that changed what is shown, oldest first. */
  get paints(): readonly Paint[] {
    return this.#screen.paints;
  }

  /** Calls an API function. Neovim's error is a {@link NvimError}; no answer is an error after a minute. */
  async request(method: string, ...params: readonly unknown[]): Promise<unknown> {
    const outcome = await this.#answer(DEFAULT_TIMEOUT, method, params);
    if (outcome.done) return outcome.value;
    throw await this.#failure(`Cannot get an answer to ${method} within ${DEFAULT_TIMEOUT} ms.`);
  }

  /** The result of a chunk of Lua, whose `...` is `args`; nil is undefined. T is the caller's claim. */
  async lua<T = unknown>(code: string, ...args: readonly unknown[]): Promise<T> {
    const result = await this.request("nvim_exec_lua", code, args);
    return (result ?? undefined) as T;
  }

  async command(line: string): Promise<void> {
    await this.request("nvim_command", line);
  }

  /**
   * Types, in the notation of `:help key-notation` (a literal `<` is `<lt>`). Neovim has acted on
   * the keys, or waits for the one that completes them.
   */
  async keys(keys: string): Promise<void> {
    const end = performance.now() + DEFAULT_TIMEOUT;
    const taken = await this.request("nvim_input", keys);
    // Its buffer holds 16 kB and, once full, takes nothing ever again (seen in 0.12.4).
    if (taken !== new TextEncoder().encode(keys).length) {
      throw new Error(`Cannot type so much: Neovim took ${taken} bytes. Try nvim_paste`);
    }
    // A request is answered only after the keys that came before it.
    const acted = this.#rpc.request("nvim_eval", ["1"]).catch(() => {
      // The keys have ended Neovim.
    });
    while (!(await within(LOOK, acted)).done) {
      if ((await this.#mode())?.blocking) return;
      if (performance.now() > end) {
        throw await this.#failure(`Neovim did not act on ${keys} in ${DEFAULT_TIMEOUT} ms.`);
      }
    }
  }

  /** The rows as shown; a double-width character is one character. */
  screen(): readonly string[] {
    return this.#screen.grid.rows();
  }

  /** The rows without blanks at their ends, joined by line breaks. */
  text(): string {
    return this.#screen.text();
  }

  cursor(): Position {
    return this.#screen.grid.cursor;
  }

  /** The place of the first cell of `text`, which stands on one row. */
  locate(text: string): Position | undefined {
    return this.#screen.grid.locate(text);
  }

  /** What is shown, with its colours. */
  picture(): Picture {
    return this.#screen.grid.picture();
  }

  highlightAt(row: number, column: number): CellStyle {
    return this.#screen.grid.styleAt(row, column);
  }

  /** Resolves with the screen's text as soon as a flush shows this. */
  async waitForScreen(what: Shows, options?: WaitOptions): Promise<string> {
    await this.#watch(`the screen to show ${named(what)}`, () => this.#screen.shows(what), options);
    return this.text();
  }

  /** Resolves with the screen's text as soon as a flush no longer shows this. */
  async waitForScreenGone(what: Shows, options?: WaitOptions): Promise<string> {
    await this.#watch(
      `the screen to no longer show ${named(what)}`,
      () => !this.#screen.shows(what),
      options,
    );
    return this.text();
  }

  /** The first value of a Lua expression that is neither nil nor false; while it throws, it is tried again. */
  async waitFor<T = unknown>(luaExpression: string, options: WaitOptions = {}): Promise<T> {
    const timeout = options.timeout ?? DEFAULT_TIMEOUT;
    const end = performance.now() + timeout;
    let last = "never answered";
    for (let left = timeout; left > 0; left = end - performance.now()) {
      try {
        const outcome = await this.#answer(left, "nvim_exec_lua", [`return ${luaExpression}`, []]);
        if (!outcome.done) break;
        if (outcome.value !== null && outcome.value !== false) return outcome.value as T;
        last = String(outcome.value ?? "nil");
      } catch (error) {
        if (!(error instanceof NvimError)) throw error;
        last = error.message;
      }
      await pauseBetweenLooks(timeout - left);
    }
    throw await this.#failure(`Waited ${timeout} ms for ${luaExpression}; it was ${last}.`);
  }

  /** Resolves when the screen has its new size. */
  async resize(columns: number, lines: number): Promise<void> {
    await this.request("nvim_ui_try_resize", columns, lines);
    const fits = () => {
      const { size } = this.#screen.grid;
      return size.columns === columns && size.lines === lines;
    };
    await this.#watch(`a screen of ${columns} × ${lines}`, fits);
  }

  stderr(): string {
    return this.#process.stderr();
  }

  /** `:qa!`; resolves when the process has ended. */
  async quit(): Promise<void> {
    const asked = this.#rpc.request("nvim_command", ["qa!"]).catch((error: unknown) => {
      // It is not answered: Neovim is gone.
      if (!isNamed(error, "RpcClosed")) throw error;
    });
    await this.#exit(Promise.all([asked, this.exited]));
  }

  /** Resolves when the process has ended. */
  async end(signal: Deno.Signal): Promise<void> {
    this.kill(signal);
    await this.#exit(this.exited);
  }

  kill(signal: Deno.Signal): void {
    this.#process.kill(signal);
  }

  /** Prints the screen for the runner of the tests, which keeps what failed tests have printed. */
  printScreen(): void {
    if (Deno.env.get("AGENT_TEST_SCREENS") !== undefined) console.error(this.#screen.framed());
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.printScreen();
    await this.#process[Symbol.asyncDispose]();
    await within(DEFAULT_TIMEOUT, this.#rpc.closed);
  }

  async #enter({ columns = 80, lines = 24, runtime = [], allowPrompt = false }: ChildOptions): Promise<void> {
    const end = performance.now() + DEFAULT_TIMEOUT;
    const ready = Promise.all([
      this.lua(PREPARE, runtime),
      this.request("nvim_ui_attach", columns, lines, { rgb: true, ext_linegrid: true }),
      this.#entered.promise,
    ]);
    while (!(await within(LOOK, ready)).done) {
      if (this.#screen.ended) throw await this.#failure("Cannot start Neovim.");
      const mode = await this.#mode();
      const prompt = this.#screen.paints.length > 0 && mode !== undefined &&
        (mode.blocking || /^[rc]/.test(mode.mode));
      if (prompt && allowPrompt) return;
      if (prompt) throw await this.#failure("Cannot start Neovim: it asks for a key first.");
      if (performance.now() > end) {
        throw await this.#failure(`Cannot start Neovim within ${DEFAULT_TIMEOUT} ms.`);
      }
    }
    await this.#watch("the first screen", () => this.#screen.paints.length > 0);
  }

  async #exit(exited: Promise<unknown>): Promise<void> {
    if ((await within(DEFAULT_TIMEOUT, exited)).done) return;
    throw await this.#failure(`Neovim did not end within ${DEFAULT_TIMEOUT} ms.`);
  }

  async #watch(what: string, holds: () => boolean, options: WaitOptions = {}): Promise<void> {
    const timeout = options.timeout ?? DEFAULT_TIMEOUT;
    if (await this.#screen.watch(holds, timeout)) return;
    throw await this.#failure(`Waited ${timeout} ms for ${what}.`);
  }

  /** Errors are made anew here, so that their stack shows the test and not the read loop. */
  async #answer(limit: number, method: string, params: readonly unknown[]): Promise<Outcome<unknown>> {
    try {
      return await within(limit, this.#rpc.request(method, params));
    } catch (error) {
      if (isNamed(error, "RpcError")) throw new NvimError(error.message);
      if (isNamed(error, "RpcClosed")) throw await this.#failure(`Cannot call ${method}.`);
      throw error;
    }
  }

  /** Undefined if Neovim is too busy to say. */
  async #mode(): Promise<Mode | undefined> {
    const asked = this.#rpc.request("nvim_get_mode", []).catch(() => undefined);
    const outcome = await within(MODE_LIMIT, asked);
    const answer = outcome.done ? outcome.value : undefined;
    if (typeof answer !== "object" || answer === null) return undefined;
    if (!("mode" in answer) || !("blocking" in answer)) return undefined;
    return { mode: String(answer.mode), blocking: answer.blocking === true };
  }

  async #failure(text: string): Promise<Error> {
    return new Error(
      [text, await this.#state(), this.#screen.framed(), this.stderr()].join("\n").trimEnd(),
    );
  }

  async #state(): Promise<string> {
    if (this.#screen.ended) {
      const outcome = await within(DEFAULT_TIMEOUT, this.exited);
      return outcome.done
        ? `Neovim has ended with code ${outcome.value.code}.`
        : "Neovim has closed its output.";
    }
    const mode = await this.#mode();
    if (mode === undefined) return "Neovim is busy and answers nothing.";
    return `Neovim is in mode ${mode.mode}${mode.blocking ? ", waiting for a key." : "."}`;
  }
}

function named(what: Shows): string {
  return typeof what === "string" ? JSON.stringify(what) : String(what);
}
