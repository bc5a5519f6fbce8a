/** The program `agent`: its commands work without Neovim. */
import { VERSION } from "./protocol/version.ts";

interface Program {
  /** Runs the command. @returns the exit code */
  main(args: readonly string[]): Promise<number>;
}

/** Modules by the names of commands. A command loads only its own: literal imports would all be loaded. */
const COMMANDS: Readonly<Record<string, { readonly module: string; readonly summary: string }>> = {
  run: { module: "./run/main.ts", summary: "Run one turn in a terminal or in CI" },
  acp: { module: "./acp/main.ts", summary: "Serve editors by the Agent Client Protocol" },
};

function usage(): string {
  const rows = Object.entries(COMMANDS).map(([name, { summary }]) => `  ${name.padEnd(8)}${summary}`);
  return `Usage: agent COMMAND [ARGUMENTS]\n\n${
    rows.join("\n")
  }\n\nagent COMMAND --help lists the options.\n`;
}

async function main([name = "", ...args]: readonly string[]): Promise<number> {
  const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  if (command !== undefined) {
    const program: Program = await import(command.module);
    return await program.main(args);
  }
  if (name === "--version") console.log(`agent.nvim ${VERSION}`);
  else if (name === "--help" || name === "-h") console.log(usage().trimEnd());
  else {
    console.error(
      name === "" ? usage().trimEnd() : `Unknown command ${JSON.stringify(name)}. Try agent --help.`,
    );
    return 2;
  }
  return 0;
}

Deno.exit(await main(Deno.args));
