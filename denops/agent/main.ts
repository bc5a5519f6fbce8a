/** The plugin in denops.vim's server, and in standalone.ts where there is none. */
import type { Denops, Entrypoint } from "jsr:@denops/std@8.1.1";
import type { Supervisor } from "./supervisor/supervisor.ts";
import type { Update } from "./protocol/ui.ts";

/** Interval of the check that Neovim still runs: denops.vim's server can outlive it, and engines must not. */
const LOOK_MS = 1_000;

/**
 * Loaded with the first action, so that an installed plugin costs nothing until then. Deno would load modules that an
 * import names literally together with this one.
 */
const SUPERVISOR = "./supervisor/supervisor.ts";
const BOOT = "./supervisor/agents/boot.ts";

/** @param name of the supervisor's module */
async function load(denops: Denops, name: string, host: number): Promise<Supervisor> {
  const deliver = async (batch: readonly Update[]) => {
    await denops.call("luaeval", "require('agent.client').receive(_A)", batch);
  };
  const loading: Promise<typeof import("./supervisor/supervisor.ts")> = import(name);
  const [{ Supervisor, watchProcess }, pid] = await Promise.all([loading, denops.call("getpid")]);
  const environment = () => denops.call("environ").catch(() => undefined);
  const supervisor = new Supervisor(deliver, { host, environment });
  watchProcess(Number(pid), LOOK_MS, () => supervisor[Symbol.asyncDispose]());
  return supervisor;
}

export const main: Entrypoint = (denops) => {
  let supervisor: Supervisor | undefined;
  /** The number of the host that started last. */
  let current: unknown;
  let hasFailed = false;

  const end = async () => {
    const { endEarly }: typeof import("./supervisor/agents/boot.ts") = await import(BOOT);
    const ended = supervisor;
    supervisor = undefined;
    await Promise.all([ended?.[Symbol.asyncDispose](), endEarly()]);
  };
  let starting: Promise<void> | undefined;
  /** Runs it after a slow start. */
  const next = (run: () => Promise<void>): Promise<void> => {
    return starting = (starting ?? Promise.resolve()).catch(() => {}).then(run);
  };
  const start = async (host: unknown, hint: unknown): Promise<void> => {
    current = host;
    try {
      await supervisor?.[Symbol.asyncDispose]();
      if (!hasFailed) {
        const { bootEarly }: typeof import("./supervisor/agents/boot.ts") = await import(BOOT);
        await bootEarly(hint);
      }
      // Deno remembers under its name that a module could not be loaded.
      supervisor = await load(denops, hasFailed ? `${SUPERVISOR}#${host}` : SUPERVISOR, Number(host));
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
     * @param hint the engine to start early, see boot.ts
     */
    start(host: unknown, hint: unknown): Promise<void> {
      return next(() => start(host, hint));
    },
    /** Ends the supervisor and the engines of a host that is not needed, unless another one has replaced it. */
    stop(host: unknown): Promise<void> {
      return next(async () => {
        if (host === current) await end();
      });
    },
    act(action: unknown): void {
      supervisor?.act(action);
    },
  };
  return {
    async [Symbol.asyncDispose]() {
      // A start in progress fails soon once Neovim is gone.
      await starting?.catch(() => {});
      if (starting !== undefined) await end();
    },
  };
};
