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

/** The supervisor of the host that started last. */
class Hosted {
  readonly #denops: Denops;
  #supervisor: Supervisor | undefined;
  /** The number of its host. */
  #host: unknown;
  #hasFailed = false;
  #work: Promise<void> | undefined;

  constructor(denops: Denops) {
    this.#denops = denops;
  }

  start(host: unknown, hint: unknown): Promise<void> {
    return this.#next(() => this.#start(host, hint));
  }

  stop(host: unknown): Promise<void> {
    return this.#next(async () => {
      if (host === this.#host) await this.#end();
    });
  }

  act(action: unknown): void {
    this.#supervisor?.act(action);
  }

  /** A start in progress fails soon once Neovim is gone. */
  async close(): Promise<void> {
    await this.#work?.catch(() => {});
    if (this.#work !== undefined) await this.#end();
  }

  /** Runs it after a slow start. */
  #next(run: () => Promise<void>): Promise<void> {
    return this.#work = (this.#work ?? Promise.resolve()).catch(() => {}).then(run);
  }

  async #start(host: unknown, hint: unknown): Promise<void> {
    const denops = this.#denops;
    this.#host = host;
    try {
      await this.#supervisor?.[Symbol.asyncDispose]();
      if (!this.#hasFailed) {
        const { bootEarly }: typeof import("./supervisor/agents/boot.ts") = await import(BOOT);
        await bootEarly(hint);
      }
      // Deno remembers under its name that a module could not be loaded.
      this.#supervisor = await load(
        denops,
        this.#hasFailed ? `${SUPERVISOR}#${host}` : SUPERVISOR,
        Number(host),
      );
      const isWanted = await denops.call("luaeval", "require('agent.host').started(_A)", host);
      if (isWanted === false) await this.#end();
    } catch (error) {
      this.#hasFailed = true;
      const reason = error instanceof Error ? error.message : String(error);
      await denops.call("luaeval", "require('agent.host').failed(_A[1], _A[2])", [host, reason]);
    }
  }

  async #end(): Promise<void> {
    const { endEarly }: typeof import("./supervisor/agents/boot.ts") = await import(BOOT);
    const ended = this.#supervisor;
    this.#supervisor = undefined;
    await Promise.all([ended?.[Symbol.asyncDispose](), endEarly()]);
  }
}

export const main: Entrypoint = (denops) => {
  const hosted = new Hosted(denops);
  denops.dispatcher = {
    /**
     * Answered by `started` or `failed` of lua/agent/host.lua with the same number.
     * @param hint the engine to start early, see boot.ts
     */
    start: (host: unknown, hint: unknown) => hosted.start(host, hint),
    /** Ends the supervisor and the engines of a host that is not needed, unless another one has replaced it. */
    stop: (host: unknown) => hosted.stop(host),
    act: (action: unknown) => hosted.act(action),
  };
  return { [Symbol.asyncDispose]: () => hosted.close() };
};
