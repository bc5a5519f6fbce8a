/** The plugin in denops.vim's server, and in standalone.ts where there is none. */
import type { Entrypoint } from "jsr:@denops/std@8.1.1";
import type { Supervisor } from "./supervisor/supervisor.ts";
import type { Update } from "./protocol/ui.ts";

/** How often Neovim is looked for. denops.vim's server can outlive it, and engines must not. */
const LOOK_MS = 1_000;

export const main: Entrypoint = (denops) => {
  const deliver = async (batch: readonly Update[]) => {
    await denops.call("luaeval", "require('agent.client').receive(_A)", batch);
  };
  // Loaded with the first action: having the plugin installed costs nothing.
  let supervisor: Promise<Supervisor> | undefined;
  const start = async () => {
    const { Supervisor } = await import("./supervisor/supervisor.ts");
    const { watchProcess } = await import("./supervisor/system/watch.ts");
    const started = new Supervisor(deliver);
    const pid = Number(await denops.call("getpid"));
    watchProcess(pid, LOOK_MS, () => started[Symbol.asyncDispose]());
    return started;
  };
  let order: Promise<unknown> = Promise.resolve();
  denops.dispatcher = {
    act(action: unknown): void {
      supervisor ??= start();
      const ready = supervisor;
      order = order.then(async () => (await ready).act(action));
    },
  };
  return {
    async [Symbol.asyncDispose]() {
      if (supervisor !== undefined) await (await supervisor)[Symbol.asyncDispose]();
    },
  };
};
