/** A shell that lives in a sandbox over overlays and runs lines, as the tools of an agent do. */
import type { TurnRoots } from "../../../denops/agent/supervisor/commands/overlay/turn_roots.ts";
import { bwrapArguments } from "../../../denops/agent/supervisor/system/sandbox/mounts.ts";
import { commandMounts } from "../../../denops/agent/supervisor/system/sandbox/command_mounts.ts";
import { findProgram, sandbox } from "../../../denops/agent/supervisor/system/sandbox.ts";
import { childPipe } from "../../../denops/agent/shared/byte_pipe.ts";

export interface SandboxedShell extends AsyncDisposable {
  /** @returns both outputs of the line */
  run(line: string): Promise<string>;
}

/** @param state the supervisor's folder */
export async function sandboxedShell(
  turnRoots: Pick<TurnRoots, "enter" | "mounts">,
  root: string,
  state: string,
): Promise<SandboxedShell> {
  const found = await sandbox([root]);
  if (found.level !== "bubblewrap") throw new Error(found.reason);
  const mounts = commandMounts({
    level: "write",
    roots: [root],
    home: undefined,
    system: found.system,
    git: { bound: [], guarded: [] },
    masks: { folders: [], files: [] },
    hidden: [],
    read: [],
    write: [],
    own: [state],
    gitConfig: undefined,
  });
  const bash = await findProgram("bash", [root]) ?? "bash";
  const inner = bwrapArguments({ network: false, cwd: root, mounts: [...mounts, ...turnRoots.mounts] });
  const script = `while read -r -d '' line; do eval "$line" 2>&1; printf '\\0'; done`;
  const [program = "", ...args] = [...turnRoots.enter, found.bwrap, ...inner, "--", bash, "-c", script];
  const process = new Deno.Command(program, {
    args,
    stdin: "piped",
    stdout: "piped",
    stderr: "null",
  }).spawn();
  const pipe = childPipe(process);
  const decoder = new TextDecoder();
  let text = "";
  const shell: SandboxedShell = {
    async run(line) {
      await pipe.write(new TextEncoder().encode(`${line}\0`));
      while (!text.includes("\0")) {
        const bytes = await pipe.read();
        if (bytes === undefined) throw new Error(`the shell has ended: ${text}`);
        text += decoder.decode(bytes, { stream: true });
      }
      const end = text.indexOf("\0");
      const output = text.slice(0, end);
      text = text.slice(end + 1);
      return output;
    },
    async [Symbol.asyncDispose]() {
      pipe.close();
      process.kill("SIGKILL");
      await process.status;
    },
  };
  // The first turn of an agent begins after its first answer. A layer that is mounted earlier may not reach the sandbox.
  await shell.run("true");
  return shell;
}
