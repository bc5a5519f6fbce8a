/** A shell in the place of an agent from elsewhere: started and ended as one, it runs lines. */
import { createHash } from "node:crypto";
import { AgentHost } from "../../../denops/agent/supervisor/foreign/agent_host.ts";
import type { EditorToolPorts } from "../../../denops/agent/supervisor/foreign/tools/editor_tools.ts";
import { type PipeProgram, Pipes } from "../../../denops/agent/supervisor/pipes/pipes.ts";
import type { AgentOptions } from "../../../denops/agent/protocol/options/shapes.ts";
import type { KeptChange, ScreenResult } from "../../../denops/agent/protocol/screen_requests.ts";
import { commandRunner, TOOLS } from "../command_sandbox.ts";
import { type Scratch, scratch } from "../project.ts";
import { editorPorts } from "./editor_ports.ts";

export const SESSION = "session";

/** The name of a path's copy in the folder where Neovim copies files before it writes them. */
export function spoolName(path: string): string {
  return createHash("sha256").update(path).digest("hex");
}

interface HostedOptions {
  readonly denied?: readonly string[];
  readonly row?: AgentOptions;
  /** Patterns of hosts that rules allow or deny. */
  readonly hosts?: readonly string[];
  readonly variables?: Readonly<Record<string, string>>;
  /** A repository. */
  readonly git?: boolean;
  /** A project that there is already, instead of one with these files. */
  readonly project?: Scratch;
  /** The editor behind the tools. */
  readonly tools?: Partial<EditorToolPorts>;
  /** False: none can be mounted here. */
  readonly overlays?: boolean;
  /** The home folder's files. */
  readonly home?: Readonly<Record<string, string>>;
}

const LOOP = `while read -r -d '' line; do eval "$line" 2>&1; printf '\\0'; done`;

/** @param files of the project */
export async function hostedShell(files: Readonly<Record<string, string>>, options: HostedOptions = {}) {
  const stack = new AsyncDisposableStack();
  const project = options.project ?? stack.use(await scratch(files, options.git ? { git: true } : {}));
  const state = stack.use(await scratch());
  const home = stack.use(await scratch(options.home ?? {}));
  const { denied = [], row, hosts = [], variables } = options;
  const environment = { ...Deno.env.toObject(), HOME: home.root, ...variables };
  const { sandbox } = commandRunner([project.root], state.root, denied, { home: home.root });
  if (options.overlays === false) {
    Object.assign(sandbox, {
      rehearses: () => Promise.resolve({ works: false, reason: "no overlays here" }),
    });
  }
  const spools: { readonly folder: string; readonly since: number | undefined }[] = [];
  const host = new AgentHost({
    roots: [project.root],
    user: {
      state_dir: state.root,
      agents: { shell: { title: "Shell", cmd: ["bash", "-c", LOOP], ...row } },
      command_read: [TOOLS],
      command_write: [],
    },
    sandbox,
    environment,
    denied: () => denied,
    hosts: () => hosts,
    spool: (folder, since) => spools.push({ folder, since }),
    tools: () => editorPorts([project.root], options.tools),
  });
  const pipes = stack.use(new Pipes());
  const add = (program: PipeProgram) => pipes.add(program, host.errorsOf("shell"));
  const pipe = await host.start("shell", "session", add, new AbortController().signal);
  let text = "";
  let last: ScreenResult<"agent_end"> | undefined;
  return {
    ...{ project, state, home, host, pipes, pipe, spools, hasOverlays: options.overlays !== false },
    /** @returns both outputs of the line */
    async run(line: string): Promise<string> {
      await pipes.write(pipe, `${line}\0`);
      while (!text.includes("\0")) {
        const { text: more, ended } = await pipes.read(pipe);
        if (ended !== undefined) throw new Error(`the shell has ended: ${ended}`);
        text += more;
      }
      const end = text.indexOf("\0");
      const output = text.slice(0, end);
      text = text.slice(end + 1);
      return output;
    },
    async begin(): Promise<void> {
      await host.begin(pipe, SESSION, denied);
    },
    async end(isComplete = true): Promise<ScreenResult<"agent_end">> {
      return last = await host.end(pipe, SESSION, isComplete);
    },
    /** What the last turn would change: "a.txt: file", with the reason if it cannot be kept. */
    changes(): readonly string[] {
      const changes = this.listed();
      return (changes?.effects ?? []).map(({ inRoot, after, refused }) =>
        `${inRoot}: ${refused ?? after?.type ?? "deleted"}`
      ).sort();
    },
    /** As Neovim does before it writes a file; only of a file that has not changed in this turn. */
    async copyBeforeWrite(path: string): Promise<void> {
      const { folder = "", since } = spools.at(-1) ?? {};
      if (since === undefined) return;
      await Deno.copyFile(path, `${folder}/${spoolName(path)}`).catch(() => {});
    },
    /** The changes of the last turn. */
    listed: () => host.ended(SESSION, last?.terminal ?? "")?.changes,
    /** Approves everything, and returns it with its contents, as an engine gets it. */
    kept(): readonly { readonly change: KeptChange; readonly bytes: Uint8Array }[] {
      const changes = this.listed();
      if (changes === undefined) return [];
      changes.keep(() => undefined);
      const all = changes.kept(0).changes;
      const parts = all.map((): Uint8Array[] => []);
      for (let next: { change: number; offset: number } | undefined = { change: 0, offset: 0 }; next;) {
        const page = changes.contents(next);
        for (const { change, base64 } of page.parts) parts[change]?.push(Uint8Array.fromBase64(base64));
        next = page.next;
      }
      return all.map((change, index) => ({
        change,
        bytes: Uint8Array.from((parts[index] ?? []).flatMap((part) => [...part])),
      }));
    },
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}
