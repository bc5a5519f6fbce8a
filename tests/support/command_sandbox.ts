/** Commands in their sandbox without Neovim: as the supervisor starts them, at any level. */
import { fileURLToPath } from "node:url";
import type { Activation, CommandAccess } from "../../denops/agent/protocol/commands.ts";
import { CommandSandbox } from "../../denops/agent/supervisor/commands/sandbox.ts";
import {
  type CommandEnd,
  type CommandSpec,
  RunningCommand,
} from "../../denops/agent/supervisor/commands/runner.ts";
import { activationCode } from "../../denops/agent/supervisor/commands/shell_state.ts";

export interface Ran {
  readonly output: string;
  readonly end: CommandEnd;
  readonly folder: string | undefined;
  readonly claim: RunningCommand["claim"];
  /** The hosts that its proxy refused. */
  readonly refused: readonly string[];
}

interface RunOptions extends Partial<Pick<CommandSpec, "mostMemory" | "timeoutMs">> {
  /** Over an overlay, of which nothing is kept. */
  readonly rehearsed?: boolean;
  readonly activation?: Activation;
  /** Patterns of the hosts that it can reach. */
  readonly hosts?: readonly string[];
}

export interface Runner {
  run(
    access: CommandAccess,
    line: string,
    options?: RunOptions,
  ): Promise<Ran>;
  readonly sandbox: CommandSandbox;
}

const LONGEST_MS = 300_000;

/** Where the tools are that the tests have unpacked. */
export const TOOLS = fileURLToPath(new URL("../../.deps", import.meta.url));

/** @param denied globs of files that may not be read */
export function commandRunner(
  roots: readonly string[],
  stateDir: string,
  denied: readonly string[] = [],
  options: Partial<ConstructorParameters<typeof CommandSandbox>[1]> & {
    readonly home?: string;
    /** Of Neovim's environment. */
    readonly variables?: Readonly<Record<string, string>>;
  } = {},
): Runner {
  const [root = ""] = roots;
  const { home, variables, ...more } = options;
  const environment = { ...Deno.env.toObject(), ...(home === undefined ? {} : { HOME: home }), ...variables };
  const sandbox = new CommandSandbox(roots, {
    sandbox: "auto",
    command_read: [TOOLS],
    command_write: [],
    command_environment: [],
    state_dir: stateDir,
    ...more,
  }, environment);
  return {
    sandbox,
    async run(access, line, { rehearsed = false, activation, hosts, ...limits } = {}) {
      const spec = await sandbox.specify({ access, cwd: root, rehearsed, hosts }, denied);
      const command = new RunningCommand(
        {
          ...spec,
          prelude: [spec.prelude ?? ":", activationCode(activation)].join("\n"),
          timeoutMs: LONGEST_MS,
          ...limits,
          line,
          cwd: root,
        },
        () => {},
      );
      const end = await command.ended;
      await spec.rehearsal?.[Symbol.asyncDispose]();
      await spec.proxy?.[Symbol.asyncDispose]();
      const { output, claim } = command;
      return { output, end, folder: claim?.folder, claim, refused: spec.proxy?.refused ?? [] };
    },
  };
}
