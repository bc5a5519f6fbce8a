/** The plugin in denops.vim's server, and in standalone.ts where there is none. */
import type { Entrypoint } from "jsr:@denops/std@8.1.1";
import type { Supervisor } from "./supervisor/supervisor.ts";
import type { Update } from "./protocol/ui.ts";

/** How often Neovim is looked for. denops.vim's server can outlive it, and engines must not. */
const LOOK_MS = 1_000;

/**
 * Loaded with the first action: having the plugin installed costs nothing. A name in the import itself would be
 * followed when this module is loaded.
 */
const SUPERVISOR = "./supervisor/supervisor.ts";
const BOOT = "./supervisor/agents/boot.ts";

export const main: Entrypoint = (denops) => {
  let supervisor: Supervisor | undefined;
  let hasFailed = false;

  const deliver = async (batch: readonly Update[]) => {
    await denops.call("luaeval", "require('agent.client').receive(_A)", batch);
  };
  const load = async (host: number) => {
    // A module that could not be loaded is remembered as such under its name.
    const name = hasFailed ? `${SUPERVISOR}#${host}` : SUPERVISOR;
    const loading: Promise<typeof import("./supervisor/supervisor.ts")> = import(name);
    const [{ Supervisor, watchProcess }, pid] = await Promise.all([loading, denops.call("getpid")]);
    const environment = () => denops.call("environ").catch(() => undefined);
    const started = new Supervisor(deliver, { host, environment });
    watchProcess(Number(pid), LOOK_MS, () => started[Symbol.asyncDispose]());
    return started;
  };
  const end = async () => {
    const { endEarly }: typeof import("./supervisor/agents/boot.ts") = await import(BOOT);
    const ended = supervisor;
    supervisor = undefined;
    await Promise.all([ended?.[Symbol.asyncDispose](), endEarly()]);
  };
  let starting: Promise<void> | undefined;
  const start = async (host: unknown, hint: unknown): Promise<void> => {
    try {
      await supervisor?.[Symbol.asyncDispose]();
      if (!hasFailed) {
        const { bootEarly }: typeof import("./supervisor/agents/boot.ts") = await import(BOOT);
        await bootEarly(hint);
      }
      supervisor = await load(Number(host));
      const isWanted = await denops.call("luaeval", "require('agent.host').started(_A)", host);
      if (isWanted === false) await end();
    } catch (error) {
      hasFailed = true;
      const reason = error instanceof Error ? error.message : String(error);
      await denops.call("luaeval", "require('agent.host').failed(_A[1], _A[2])", [host, reason]);
    }
  };
  denops.dispatcher = {
    /**
     * Answered by `started` or `failed` of lua/agent/host.lua with the same number.
     * @param hint which engine will be asked for, see boot.ts
     */
    start(host: unknown, hint: unknown): Promise<void> {
      // One that was slow may still be on its way.
      return starting = (starting ?? Promise.resolve()).catch(() => {}).then(() => start(host, hint));
    },
    act(action: unknown): void {
      supervisor?.act(action);
    },
  };
  return {
    async [Symbol.asyncDispose]() {
      // What is on its way is ended too; it fails soon where Neovim is gone.
      await starting?.catch(() => {});
      if (starting !== undefined) await end();
    },
  };
};
