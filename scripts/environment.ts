/** What the scripts share: the project's folder, and an environment with the tools on the PATH. */
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs, type ParseArgsOptionsConfig } from "node:util";
import { ensureTools, type ToolName, toolPath } from "./tools.ts";

export const PROJECT = fileURLToPath(new URL("..", import.meta.url));
export const DEPS = join(PROJECT, ".deps");

/**
 * The variables with which tests and `try` run; tools that are missing are unpacked into `.deps` first. Ends this
 * process with a line or two if one cannot be had.
 */
export async function toolEnvironment(names: readonly ToolName[]): Promise<Record<string, string>> {
  const log = (line: string) => console.log(line);
  const tools = await ensureTools(names, { depsDir: DEPS, log }).catch((error): never => {
    console.error(error instanceof Error ? error.message : error);
    Deno.exit(1);
  });
  const path = [toolPath(DEPS), Deno.env.get("PATH") ?? ""].join(delimiter);
  const nvim = tools.get("nvim");
  return { PATH: path, ...(nvim === undefined ? {} : { AGENT_NVIM: nvim.path }) };
}

/** Runs Deno in the project's folder with the terminal's own streams; its exit code. */
export async function deno(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<number> {
  const command = new Deno.Command(Deno.execPath(), { args: [...args], cwd: PROJECT, env: { ...env } });
  return (await command.spawn().status).code;
}

/** The arguments of a task. Ends this process if one is unknown. @param usage one or more lines */
export function taskArguments<const Options extends ParseArgsOptionsConfig>(options: Options, usage: string) {
  try {
    return parseArgs({ args: Deno.args, allowPositionals: true, options });
  } catch {
    console.error(usage);
    Deno.exit(2);
  }
}
