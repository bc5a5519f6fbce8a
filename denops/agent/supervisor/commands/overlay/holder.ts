/** A mount namespace that a bubblewrap process keeps alive. Source: bwrap(1). */
import { trustedPath } from "../../system/environment.ts";
import { neovimEnvironment } from "../../system/neovim_environment.ts";
import { openProgram } from "../../system/programs.ts";
import { findProgram } from "../../system/sandbox.ts";

export interface Tools {
  readonly bwrap: string;
  readonly nsenter: string;
  readonly sh: string;
  readonly mount: string;
  readonly env: Record<string, string>;
}

/** @throws {Error} one line: the missing tool */
export async function findTools(roots: readonly string[]): Promise<Tools> {
  const find = async (name: string) => {
    const path = await findProgram(name, roots);
    if (path === undefined) throw new Error(`${name} is not installed`);
    return path;
  };
  const [bwrap, nsenter, sh] = [await find("bwrap"), await find("nsenter"), await find("sh")];
  const mount = await find("mount");
  const path = trustedPath(neovimEnvironment().PATH ?? "", roots).join(":");
  return { bwrap, nsenter, sh, mount, env: { PATH: path, LC_ALL: "C" } };
}

/** A process that keeps the namespace until its input ends, which happens with the supervisor in any case. */
export class Holder implements AsyncDisposable {
  hasEnded = false;
  readonly pid: number;
  readonly #process: Deno.ChildProcess;

  private constructor(process: Deno.ChildProcess, pid: number) {
    this.#process = process;
    this.pid = pid;
    process.status.then(() => this.hasEnded = true);
  }

  /**
   * @param script creates the mounts, with all capabilities of the namespace
   * @throws {Error} one line: the script's first error
   */
  static async start({ bwrap, sh, env }: Tools, script: string, words: readonly string[]): Promise<Holder> {
    // Root needs no user namespace, in which other users' files would belong to nobody.
    const user = isRoot() ? [] : ["--unshare-user", "--uid", "0", "--gid", "0", "--cap-add", "ALL"];
    const process = openProgram("overlay", bwrap, {
      args: [...user, "--dev-bind", "/", "/", "--", sh, "-euc", `${script}\n${HOLD}`, "sh", ...words],
      cwd: "/",
      env,
      leadsGroup: true,
      stdin: "piped",
      stdout: "piped",
      stderr: "piped",
    }).spawn();
    const reader = process.stdout.getReader();
    const { value } = await reader.read();
    reader.releaseLock();
    const [, pid] = /^(\d+)\n$/.exec(new TextDecoder().decode(value)) ?? [];
    if (pid !== undefined) return new Holder(process, Number(pid));
    await process.stdin.close().catch(() => {});
    throw new Error(firstLine(await process.stderr.bytes(), "the sandbox does not start"));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#process.stdin.close().catch(() => {});
    await this.#process.stdout.cancel();
    await this.#process.stderr.cancel();
    await this.#process.status;
  }
}

const HOLD = "echo $$; read -r _";

export function isRoot(): boolean {
  return Deno.uid() === 0;
}

export function firstLine(bytes: Uint8Array, otherwise: string): string {
  const [line = ""] = new TextDecoder().decode(bytes).trim().split("\n");
  return line === "" ? otherwise : line;
}
