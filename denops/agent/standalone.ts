/**
 * Hosts main.ts without denops.vim: Neovim starts it with `jobstart({…}, {rpc = true})`, and it gives main.ts an
 * object of denops.vim's shape over MessagePack-RPC on stdin and stdout. It ends when stdin does, or with SIGTERM.
 */
import type { Context, Denops, Dispatcher, Meta } from "jsr:@denops/std@8.1.1";
import { main } from "./main.ts";
import { standardPipe } from "./shared/byte_pipe.ts";
import { MsgpackRpc } from "./shared/msgpack_rpc.ts";

const NAME = "agent";

class StandaloneDenops implements Denops {
  readonly name = NAME;
  readonly meta: Meta;
  readonly context: Record<string | number | symbol, unknown> = {};
  dispatcher: Dispatcher = {};
  readonly #rpc: MsgpackRpc;

  constructor(rpc: MsgpackRpc, meta: Meta) {
    this.#rpc = rpc;
    this.meta = meta;
  }

  async redraw(force?: boolean): Promise<void> {
    await this.cmd(force ? "redraw!" : "redraw");
  }

  call(fn: string, ...args: unknown[]): Promise<unknown> {
    return this.#rpc.request("nvim_call_function", [fn, withoutUndefined(args)]);
  }

  async batch(...calls: [string, ...unknown[]][]): Promise<unknown[]> {
    const results: unknown[] = [];
    for (const [fn, ...args] of calls) results.push(await this.call(fn, ...args));
    return results;
  }

  async cmd(command: string, context: Context = {}): Promise<void> {
    await this.call("luaeval", "vim.fn.execute(_A[1])", [command, context]);
  }

  eval(expression: string, _context?: Context): Promise<unknown> {
    return this.#rpc.request("nvim_eval", [expression]);
  }

  async dispatch(name: string, method: string, ...args: unknown[]): Promise<unknown> {
    const action = name === NAME ? this.dispatcher[method] : undefined;
    if (action === undefined) throw new Error(`Unknown method ${name}.${method}.`);
    return await action(...args);
  }
}

/** As in denops.vim: arguments end at the first undefined. */
function withoutUndefined(args: readonly unknown[]): readonly unknown[] {
  const end = args.indexOf(undefined);
  return end === -1 ? args : args.slice(0, end);
}

const platforms: Readonly<Record<string, Meta["platform"]>> = { darwin: "mac", windows: "windows" };

// Called when a message has come, and by then `denops` is set.
const dispatch = (method: string, params: readonly unknown[]): Promise<unknown> =>
  denops.dispatch(NAME, method, ...params);
const rpc = new MsgpackRpc(standardPipe(), dispatch, dispatch);
const denops = new StandaloneDenops(rpc, {
  mode: "release",
  host: "nvim",
  version: "",
  platform: platforms[Deno.build.os] ?? "linux",
});
const plugin = await main(denops);
// Neovim may send a signal when it ends, before it closes stdin.
const signal = new Promise<void>((resolve) => {
  if (Deno.build.os !== "windows") Deno.addSignalListener("SIGTERM", resolve);
});
await Promise.race([rpc.closed, signal]);
await plugin?.[Symbol.asyncDispose]();
Deno.exit(0);
