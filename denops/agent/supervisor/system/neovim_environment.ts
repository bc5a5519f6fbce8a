/**
 * The environment of Neovim. A shared server of denops.vim has a different one, and does not see variables
 * that are set within Neovim. It contains keys, so it stays in memory.
 */
import { networkEnvironment } from "./network.ts";

let known: Readonly<Record<string, string>> | undefined;

/** The environment of this process until Neovim has sent its own. */
export function neovimEnvironment(): Readonly<Record<string, string>> {
  return known ?? Deno.env.toObject();
}

/**
 * Stores the result of Neovim's environ() without values that are not text. Called before the supervisor's
 * first request, when Deno reads proxies and certificates.
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
