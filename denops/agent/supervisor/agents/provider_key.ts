/** The key of a provider or a search engine: from a variable or a command. */

export interface KeyWorld {
  env(name: string): string | undefined;
  /** Output of a shell command, whose programs are never taken from the roots. @throws {Error} one line */
  run(command: string, roots: readonly string[]): Promise<string>;
}

/** An option with a command that prints the key. */
export const COMMAND = "cmd:";

/**
 * The problem of a provider whose key is in no variable, in one line; undefined if it has one, needs none or runs a
 * command for it.
 * @param setting the option `api_key` @param variables that may contain the key @param option that has `api_key`
 */
export function missingKey(
  name: string,
  setting: string | undefined,
  variables: readonly string[],
  env: KeyWorld["env"],
  option = `providers.${name}`,
): string | undefined {
  const [first] = variables;
  if (first === undefined || setting?.startsWith(COMMAND) || variables.some((key) => env(key))) {
    return undefined;
  }
  return `Cannot use ${name}: ${first} is not set. Set it, or ${option}.api_key to "cmd:…".`;
}

/** @throws {Error} one line */
export async function findKey(
  name: string,
  setting: string | undefined,
  variables: readonly string[],
  world: KeyWorld,
  roots: readonly string[],
  option = `providers.${name}`,
): Promise<{ key?: string; source: string }> {
  if (setting?.startsWith(COMMAND)) {
    const source = `the command of ${option}.api_key`;
    const [key = ""] = (await world.run(setting.slice(COMMAND.length), roots)).trim().split("\n");
    if (key === "") throw new Error(`Cannot use ${name}: ${source} printed nothing.`);
    return { key, source };
  }
  for (const source of variables) {
    const key = world.env(source);
    if (key) return { key, source };
  }
  const problem = missingKey(name, setting, variables, world.env, option);
  if (problem !== undefined) throw new Error(problem);
  return { source: `${option}.api_key` };
}
