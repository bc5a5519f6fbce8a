/** The whole program with an engine that has been taken over. */
import { cpSync } from "node:fs";
import { join } from "node:path";
import type { Order } from "../attacks/hostile_questions.ts";
import { copyOfPlugin, PLUGIN, providerOptions, SECRET } from "./agent.ts";
import { ChildNvim, type ChildOptions } from "./nvim.ts";
import { type Scratch, scratch } from "./project.ts";

export interface Tainted extends AsyncDisposable {
  readonly nvim: ChildNvim;
  /** What the engine does when it is prompted again. */
  order(orders: readonly Order[]): Promise<void>;
  /** The lines of the chat. */
  transcript(): Promise<readonly string[]>;
}

export interface TaintedOptions extends ChildOptions {
  /** Real path of the project. */
  readonly root: string;
  /** Lua table fields for vim.g.agent. */
  readonly options?: string;
}

/** Neovim in a project whose engine carries out these orders with each prompt. */
export async function startTainted(orders: readonly Order[], options: TaintedOptions): Promise<Tainted> {
  const { root, options: more = "", ...child } = options;
  await using stack = new AsyncDisposableStack();
  const plugin = stack.use(await taintedPlugin());
  const state = stack.use(await scratch());
  const order = (orders: readonly Order[]) =>
    Deno.writeTextFile(join(root, "orders.json"), JSON.stringify(orders));
  await order(orders);
  const nvim = stack.use(
    await ChildNvim.start({
      ...child,
      cwd: root,
      runtime: [plugin.root],
      env: { TEST_API_KEY: SECRET },
      lua: `vim.o.hidden = true
        vim.g.agent = { ${providerOptions("openai_chat", "http://127.0.0.1:9", state.root)},
          root = ${JSON.stringify(root)}, ${more} }`,
    }),
  );
  const owned = stack.move();
  return {
    nvim,
    order,
    transcript: () =>
      nvim.lua(`return vim.api.nvim_buf_get_lines(vim.fn.bufnr("agent://chat-1"), 0, -1, true)`),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

/** The plugin with the hostile script in the place of its engine. */
async function taintedPlugin(): Promise<Scratch> {
  const copy = await copyOfPlugin();
  cpSync(join(PLUGIN, "tests/attacks/hostile_questions.ts"), copy.path("denops/agent/engine/main.ts"));
  return copy;
}
