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
const BUNDLE = "./supervisor/agents/bundle.ts";

/** The names of two modules. */
interface Program {
  readonly supervisor: string;
  readonly boot: string;
}

const MODULES: Program = { supervisor: "./supervisor/supervisor.ts", boot: "./supervisor/agents/boot.ts" };

async function findProgram(): Promise<Program> {
  const { entryFiles }: typeof import("./supervisor/agents/bundle.ts") = await import(BUNDLE);
  const [supervisor = "", boot = ""] = entryFiles(import.meta.dirname ?? "", "supervisor");
  return { supervisor: `./${supervisor}`, boot: `./${boot}` };
}

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
class SupervisorHost {
  readonly #denops: Denops;
  #supervisor: Supervisor | undefined;
  /** The number of its host. */
  #host: unknown;
  #hasFailed = false;
  #program: Program | undefined;
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
      const program = this.#program ??= await findProgram();
      if (!this.#hasFailed) {
        const { bootEarly }: typeof import("./supervisor/agents/boot.ts") = await import(program.boot);
        await bootEarly(hint);
      }
      // Deno remembers under its name that a module could not be loaded.
      const name = this.#hasFailed ? `${program.supervisor}#${host}` : program.supervisor;
      this.#supervisor = await load(denops, name, Number(host));
      const isWanted = await denops.call("luaeval", "require('agent.host').started(_A)", host);
      if (isWanted === false) await this.#end();
    } catch (error) {
      if (this.#program !== undefined && this.#program.supervisor !== MODULES.supervisor) {
        await this.#end().catch(() => {});
        this.#program = MODULES;
        return await this.#start(host, hint);
      }
      this.#hasFailed = true;
      const reason = error instanceof Error ? error.message : String(error);
      await denops.call("luaeval", "require('agent.host').failed(_A[1], _A[2])", [host, reason]);
    }
  }

  async #end(): Promise<void> {
    const { boot } = this.#program ?? MODULES;
    const { endEarly }: typeof import("./supervisor/agents/boot.ts") = await import(boot);
    const ended = this.#supervisor;
    this.#supervisor = undefined;
    await Promise.all([ended?.[Symbol.asyncDispose](), endEarly()]);
  }
}

export const main: Entrypoint = (denops) => {
  const current = new SupervisorHost(denops);
  denops.dispatcher = {
    /**
     * Answered by `started` or `failed` of lua/agent/host.lua with the same number.
     * @param hint the engine to start early, see boot.ts
     */
    start: (host: unknown, hint: unknown) => current.start(host, hint),
    /** Ends the supervisor and the engines of a host that is not needed, unless another one has replaced it. */
    stop: (host: unknown) => current.stop(host),
    act: (action: unknown) => current.act(action),
  };
  return { [Symbol.asyncDispose]: () => current.close() };
};
