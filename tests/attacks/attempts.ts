/**
 * What an engine would try that does not do what it should. Each attempt returns if it has succeeded and throws if not.
 * They run inside of the engine's process, see hostile_engine.ts; so only Deno's own modules are imported.
 */
import { FILES } from "./attempts_files.ts";
import { PROCESSES } from "./attempts_processes.ts";
import { NETWORK } from "./attempts_network.ts";

/** Where the things are that it wants. */
export interface Targets {
  readonly root: string;
  readonly state: string;
  /** A folder outside of the project; secret.txt, secret.json and module.ts in it hold `secret`. */
  readonly outside: string;
  readonly secret: string;
  /** Files that exist, of Deno's cache and of the plugin. */
  readonly cacheFile: string;
  readonly pluginFile: string;
  /** Ports on this machine: the model's and another one; both serve a module over HTTP. */
  readonly modelPort: number;
  readonly otherPort: number;
  /** Sockets on which somebody listens. */
  readonly socket: string;
  readonly neovimSocket: string;
  /** Name of a variable of the supervisor that holds `secret`. */
  readonly variable: string;
  /** A process of the user's. */
  readonly victim: number;
}

export interface Attempt {
  readonly name: string;
  run(targets: Targets): unknown;
  /** A known limit: "deno" if Deno's permissions alone do not prevent it, "always" if bubblewrap does not either. */
  readonly limit?: "deno" | "always";
  /** How the refusal must look, for what cannot succeed on every machine even where nothing forbids it. */
  readonly refusal?: RegExp;
}

/** What an engine needs: these must work, or the failures of the others would prove nothing. */
export const NEEDS: readonly Attempt[] = [
  { name: "read the project", run: ({ root }) => Deno.readTextFile(`${root}/src/greet.ts`) },
  { name: "write the project", run: ({ root }) => Deno.writeTextFile(`${root}/src/new.ts`, "new") },
  { name: "read .git", run: ({ root }) => Deno.readTextFile(`${root}/.git/config`) },
  { name: "write its state", run: ({ state }) => Deno.writeTextFile(`${state}/new.txt`, "new") },
  {
    name: "reach the model",
    run: async ({ modelPort }) => await (await fetch(`http://127.0.0.1:${modelPort}/`)).text(),
  },
];

export const ATTEMPTS: readonly Attempt[] = [...FILES, ...PROCESSES, ...NETWORK];

export interface Report {
  readonly name: string;
  readonly succeeded: boolean;
  /** The error, if it failed. */
  readonly said: string;
}
