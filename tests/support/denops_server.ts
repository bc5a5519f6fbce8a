/** denops.vim's shared server. */
import { join } from "node:path";

/** A server for several Neovims, with an environment of its own. */
export class SharedServer implements AsyncDisposable {
  readonly address: string;
  readonly #process: Deno.ChildProcess;

  private constructor(process: Deno.ChildProcess, address: string) {
    this.#process = process;
    this.address = address;
  }

  /** @param denops the folder of denops.vim */
  static async start(denops: string): Promise<SharedServer> {
    const folder = join(denops, "denops/@denops-private");
    const config = join(folder, "deno.jsonc");
    const script = join(folder, "cli.ts");
    const process = new Deno.Command(Deno.execPath(), {
      args: [
        "run",
        "-q",
        "--no-lock",
        "-A",
        "--config",
        config,
        script,
        "--quiet",
        "--identity",
        "--port",
        "0",
      ],
      stdout: "piped",
    }).spawn();
    for await (const line of process.stdout.pipeThrough(new TextDecoderStream())) {
      return new SharedServer(process, line.trim());
    }
    throw new Error("The shared server did not start.");
  }

  signal(signal: "SIGSTOP" | "SIGCONT" | "SIGKILL"): void {
    this.#process.kill(signal);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#process.kill("SIGKILL");
    await this.#process.status;
  }
}
