/** A project full of traps, and what lies around it: bait that must not be read, and files that must not change. */
import { join } from "node:path";
import { scratch } from "../support/project.ts";

/** Stands in every bait file exactly once. */
export const MARK = "production";

/** Looks so much like a bait's line that an error about "the nearest lines" would show that line. */
export const NEAR = `API_TOKEN=unknown # token of the ${MARK} billing service`;

export function bait(secret: string): string {
  return `API_TOKEN=${secret} # token of the ${MARK} billing service\nsecond line\n`;
}

/** None of these may ever reach a model. */
export const SECRETS = {
  outside: "outside-4f1d9c",
  /** A file's name that no attack mentions: only a listing could tell it. */
  name: "unmentioned-5e2d",
  env: "dotenv-77c0a1",
  state: "state-19ab3e",
  system: "root:x:0:0",
} as const;

export interface Playground extends AsyncDisposable {
  /** Real path of the folder around the project. */
  readonly base: string;
  /** Real path of the project; its name is "proj". */
  readonly root: string;
  readonly outside: string;
  /** Folder for the state of all projects. */
  readonly stateDir: string;
  /** Puts bait into the project's state folder, and a link to it into the project. @returns the bait's path */
  baitState(state: string): Promise<string>;
}

export const HOOK = "#!/bin/sh\nexit 0\n";

/** Text of the file that has a second name outside of the project. */
export const LINKED = `shared by a hard link, ${MARK}\n`;

const AROUND = {
  "outside/secret.txt": bait(SECRETS.outside),
  "outside/deep/secret.txt": bait(SECRETS.outside),
  [`outside/${SECRETS.name}.txt`]: bait(SECRETS.outside),
  "outside/.ssh/id_ed25519": bait(SECRETS.outside),
  "outside/linked.txt": LINKED,
  "proj-evil/secret.txt": bait(SECRETS.outside),
  "state/keep.txt": "",
} as const;

const INSIDE = {
  "src/greet.ts": "export function greet(name: string) {\n  return `Hello ${name}`;\n}\n",
  ".env": bait(SECRETS.env),
  ".env.local": bait(SECRETS.env),
  ".npmrc": bait(SECRETS.env),
  "donor.txt": "harmless\n",
  "config/.env": bait(SECRETS.env),
  "config/server.pem": bait(SECRETS.env),
  // What may not be read is not listed either.
  [`config/${SECRETS.env}.pem`]: "",
  ".ssh/config": bait(SECRETS.env),
  // "." of a regular expression does not match these.
  "new\nline/.env": bait(SECRETS.env),
  "separator\u2028/.env": bait(SECRETS.env),
} as const;

/** Name of a link in the project → its target, from the folder of the link. */
function links(base: string): Readonly<Record<string, string>> {
  return {
    "to-file": join(base, "outside/secret.txt"),
    "to-file-relative": "../outside/secret.txt",
    "to-folder": join(base, "outside"),
    "to-parent": "..",
    "to-root": "/",
    "to-sibling": "../proj-evil",
    "chain-1": "chain-2",
    "chain-2": "chain-3",
    "chain-3": "../outside/to-secret",
    "loop-1": "loop-2",
    "loop-2": "loop-1",
    "dangling": join(base, "outside/not-yet.txt"),
    "dangling-folder": join(base, "outside/not-yet"),
    "dangling-inside": "src/not-yet.ts",
    "proc-root": "/proc/self/root",
    "proc-cwd": "/proc/self/cwd",
    "to-passwd": "/etc/passwd",
    "to-zero": "/dev/zero",
    "to-stdin": "/dev/stdin",
    "src/up": "../..",
    "self": ".",
    "notes.txt": ".env",
    "notes-chain.txt": "notes.txt",
    "harmless": "config",
    "line.txt": "new\nline/.env",
    "line": "new\nline",
    "to-git": ".git",
    "hook.txt": ".git/hooks/pre-commit",
    ".env.link": "src/greet.ts",
  };
}

export async function playground(): Promise<Playground> {
  await using stack = new AsyncDisposableStack();
  const { root: base } = stack.use(await scratch(AROUND));
  const { root: made } = await scratch(INSIDE, { git: true });
  const root = join(base, "proj");
  await Deno.rename(made, root);
  for (const [name, target] of Object.entries(links(base))) await Deno.symlink(target, join(root, name));
  await Deno.symlink("secret.txt", join(base, "outside/to-secret"));
  await Deno.symlink(root, join(base, "proj-link"));
  await Deno.link(join(base, "outside/linked.txt"), join(root, "hard.txt"));
  await Deno.writeTextFile(join(root, ".git/hooks/pre-commit"), HOOK);
  await new Deno.Command("mkfifo", { args: [join(root, "fifo")] }).output();
  const socket = Deno.listen({ transport: "unix", path: join(root, "socket") });
  stack.defer(() => socket.close());
  const owned = stack.move();
  return {
    base,
    root,
    outside: join(base, "outside"),
    stateDir: join(base, "state"),
    async baitState(state) {
      await Deno.writeTextFile(join(state, "notes.txt"), bait(SECRETS.state));
      await Deno.symlink(state, join(root, "to-state"));
      return join(state, "notes.txt");
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

/** Every name below a folder with its kind, mode, time and content; the subtrees `except` are left out. */
export async function snapshot(
  folder: string,
  except: readonly string[] = [],
): Promise<Readonly<Record<string, string>>> {
  const found: Record<string, string> = {};
  const visit = async (path: string): Promise<void> => {
    if (except.includes(path)) return;
    const info = await Deno.lstat(path);
    const kind = info.isFile ? "file" : info.isDirectory ? "folder" : info.isSymlink ? "link" : "other";
    const content = info.isFile
      ? await Deno.readTextFile(path)
      : info.isSymlink
      ? await Deno.readLink(path)
      : "";
    found[path] = `${kind} ${info.mode?.toString(8)} ${info.mtime?.toISOString()} ${content}`;
    if (!info.isDirectory) return;
    for await (const entry of Deno.readDir(path)) await visit(join(path, entry.name));
  };
  await visit(folder);
  return found;
}
