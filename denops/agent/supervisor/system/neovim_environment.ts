/**
 * The environment of the Neovim that is served. A shared server of denops.vim has another one, and what is set within
 * Neovim is known to Neovim alone. It holds keys, and so stays in memory.
 */
import { networkEnvironment } from "./network.ts";

let known: Readonly<Record<string, string>> | undefined;

/** That of this process until Neovim has told its own. */
export function neovimEnvironment(): Readonly<Record<string, string>> {
  return known ?? Deno.env.toObject();
}

/**
 * Takes what Neovim's environ() gives; values that are no text are left out. Called before the first request of the
 * supervisor, at which Deno reads which proxies and certificates there are.
 */
export function adoptEnvironment(environment: unknown): void {
  if (typeof environment === "object" && environment !== null) {
    const variables = Object.entries(environment).filter((entry): entry is [string, string] =>
      typeof entry[1] === "string"
    );
    known = Object.fromEntries(variables);
  }
  for (const [name, value] of Object.entries(networkEnvironment(neovimEnvironment()))) {
    Deno.env.set(name, value);
  }
}
