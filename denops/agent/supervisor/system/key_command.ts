/** Runs the user's own command for a provider's key. */
import { trustedPath } from "./environment.ts";
import { neovimEnvironment } from "./neovim_environment.ts";
import { killGroup, openProgram } from "./programs.ts";
import { findProgram } from "./sandbox.ts";

const LONGEST_MS = 30_000;

/** The commands of one supervisor. */
export class KeyCommands {
  /** Ends each running command. */
  readonly #running = new Set<() => void>();
  #isOver = false;

  /** Ends the commands; none starts from now on. Projects that wait for a key open without one. */
  end(): void {
    this.#isOver = true;
    for (const end of this.#running) end();
  }

  /**
   * Output of a shell command, which gets no terminal. After the time limit it ends with its children.
   * @param roots its programs are never taken from these folders @throws {Error} one line
   */
  async run(command: string, roots: readonly string[], longest = LONGEST_MS): Promise<string> {
    const environment = neovimEnvironment();
    const isWindows = Deno.build.os === "windows";
    const [shell, flag] = isWindows ? ["cmd", "/c"] : [await findProgram("sh", roots) ?? "/bin/sh", "-c"];
    const path = trustedPath(environment.PATH ?? "", roots).join(":");
    if (this.#isOver) throw new Error("Neovim ends");
    const process = openProgram("key_command", shell, {
      args: [flag, command],
      env: isWindows ? environment : { ...environment, PATH: path },
      stdin: "null",
      stdout: "piped",
      stderr: "null",
      leadsGroup: true,
    }).spawn();
    const output = process.stdout.pipeThrough(new TextDecoderStream()).getReader();
    let hasExited = false;
    const end = () => {
      // After the exit, the process id may be another process's.
      if (!hasExited) killGroup(process);
      // A child in a group of its own may keep the pipe open.
      output.cancel();
    };
    this.#running.add(end);
    let isLate = false;
    const timer = setTimeout(() => {
      isLate = true;
      end();
    }, longest);
    const status = process.status.finally(() => hasExited = true);
    let text = "";
    for (let part = await output.read(); !part.done; part = await output.read()) text += part.value;
    const { success, code } = await status;
    clearTimeout(timer);
    this.#running.delete(end);
    if (success) return text;
    const problem = isLate
      ? `The command for the API key took longer than ${longest / 1_000} s`
      : `The command for the API key failed (exit code ${code})`;
    throw new Error(`${problem}: ${command.split(" ")[0]} … Try it in a shell, without input.`);
  }
}
