/** The key of the user's search engine. */
import type { WebSearch } from "../../protocol/config.ts";
import { findKey, type KeyWorld, missingKey } from "../agents/provider_key.ts";
import { ENGINES } from "../web/search_engines.ts";

const OPTION = "web.search";

/** @throws {Error} one line */
export async function searchKey(
  search: WebSearch,
  world: KeyWorld,
  roots: readonly string[],
): ReturnType<typeof findKey> {
  const { name } = ENGINES[search.engine];
  return await findKey(name, search.api_key, variablesOf(search), world, roots, OPTION);
}

/** The option and why searches would fail, in one line; undefined if the key is known or a command prints it. */
export function searchProblem(search: WebSearch, env: KeyWorld["env"]): string | undefined {
  const { name } = ENGINES[search.engine];
  const problem = missingKey(name, search.api_key, variablesOf(search), env, OPTION);
  return problem && `${OPTION}: ${problem}`;
}

function variablesOf({ engine, api_key }: WebSearch): readonly string[] {
  return api_key?.startsWith("env:") ? [api_key.slice("env:".length)] : ENGINES[engine].variables;
}
