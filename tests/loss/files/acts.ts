/** What the agent and the user do to a tree, at random. Names are few, so that one often meets what another did. */
import { Buffer } from "node:buffer";
import { join } from "node:path";
import type { FileChange } from "../../../denops/agent/engine/log/events.ts";
import type { Random } from "./random.ts";
import { foldersOfMine, isMine, parentOf, type Tree } from "./tree.ts";

/** What a tool does: it says which paths it writes. Paths are relative. */
export interface ToolAct {
  readonly kind: "tool";
  readonly said: string;
  readonly paths: readonly string[];
  run(): Promise<readonly FileChange[]>;
}

/** What a command does, which says nothing. */
export interface CommandAct {
  readonly kind: "command";
  readonly said: string;
  run(): Promise<void>;
}

export type Act = ToolAct | CommandAct;

const FOLDERS = ["", "", "dir", "dir/sub", "other", "ä b"];
const NAMES = ["a", "b", "c", "d", "e.bin", "run.sh", "-f", "x\ny"];

/** The project before anything: path → content; binaries among them. */
export function firstFiles(random: Random): Record<string, string | Uint8Array> {
  const files: Record<string, string | Uint8Array> = {};
  for (let count = random.int(3, 10); count > 0; count--) {
    const path = randomPath(random);
    const taken = Object.keys(files).some((one) => one.startsWith(`${path}/`) || path.startsWith(`${one}/`));
    if (!taken) files[path] = path.endsWith(".bin") ? binary(random) : lines(random);
  }
  // Now and then a project with many files.
  if (random.chance(0.005)) {
    for (let at = Math.round(200 * 25 ** random.next()); at > 0; at--) {
      files[`many/${at % 50}/${at}`] = `${at}\n`;
    }
  }
  return files;
}

function randomPath(random: Random): string {
  const folder = random.pick(FOLDERS) ?? "";
  const name = random.pick(NAMES) ?? "a";
  return folder === "" ? name : `${folder}/${name}`;
}

function lines(random: Random): string {
  const text = Array.from({ length: random.int(1, 12) }, () => `line ${random.int(0, 9_999)}`).join("\n");
  return random.chance(0.8) ? `${text}\n` : text;
}

function binary(random: Random): Uint8Array {
  return new Uint8Array(Array.from({ length: random.int(1, 40) }, () => random.int(0, 255))).fill(0, 0, 1);
}

/** Everything that acts do goes through here. */
export class Acts {
  readonly #root: string;
  readonly #random: Random;
  #count = 0;
  /** Where a file or a link has been. */
  readonly #files = new Set<string>();

  constructor(root: string, random: Random) {
    this.#root = root;
    this.#random = random;
  }

  /** What the agent does next to this tree; undefined if nothing comes to mind. */
  agent(tree: Tree): Act | undefined {
    for (const path of [...of(tree, "file"), ...of(tree, "link")]) this.#files.add(path);
    return this.#random.chance(0.5) ? this.#tool(tree) : this.#command(tree);
  }

  #tool(tree: Tree): ToolAct | undefined {
    const random = this.#random;
    const files = of(tree, "file").filter((path) => this.#isFree(tree, path));
    const texts = files.filter((path) => this.#isText(tree, path));
    switch (random.choose({ edit: 5, write: 4, delete: 2, move: 3 })) {
      case "edit": {
        const path = random.pick(texts);
        return path === undefined ? undefined : this.#writing(path, this.#edited(tree.get(path)?.text ?? ""));
      }
      case "write": {
        const path = random.chance(0.3) ? random.pick(texts) : this.#freshPath(tree);
        return path === undefined
          ? undefined
          : this.#writing(path, `agent ${++this.#count}\n${lines(random)}`);
      }
      case "delete": {
        const path = random.pick([...files, ...of(tree, "link")].filter((one) => this.#isFree(tree, one)));
        if (path === undefined) return undefined;
        return this.#tooled(`delete ${path}`, [path], async () => {
          await Deno.remove(this.#full(path));
          return [{ path: this.#full(path), kind: "deleted", onDisk: true }];
        });
      }
      case "move": {
        const [from, to] = [random.pick(files), this.#freshPath(tree)];
        if (from === undefined || to === undefined) return undefined;
        return this.#tooled(`move ${from} to ${to}`, [from, to], async () => {
          await Deno.mkdir(this.#full(parentOf(to)), { recursive: true });
          await Deno.rename(this.#full(from), this.#full(to));
          return [
            { path: this.#full(to), from: this.#full(from), kind: "renamed", onDisk: true },
          ];
        });
      }
    }
  }

  #writing(path: string, text: string): ToolAct {
    return this.#tooled(`write ${path}`, [path], async () => {
      const full = this.#full(path);
      await Deno.mkdir(this.#full(parentOf(path)), { recursive: true });
      const mode = await Deno.stat(full).then((info) => info.mode ?? 0o644, () => 0o644);
      const temporary = `${full}.${++this.#count}.new`;
      await Deno.writeTextFile(temporary, text);
      await Deno.chmod(temporary, mode & 0o7777);
      await Deno.rename(temporary, full);
      return [];
    });
  }

  #tooled(said: string, paths: readonly string[], act: () => Promise<readonly FileChange[]>): ToolAct {
    return {
      kind: "tool",
      said: `tool: ${said}`,
      paths: paths.map((path) => this.#full(path)),
      // What the system refuses is the tool's failure.
      run: () => act().catch(() => []),
    };
  }

  #command(tree: Tree): CommandAct | undefined {
    const random = this.#random;
    const holding = foldersOfMine(tree);
    // Neither the user's own, nor a folder of theirs.
    const free = [...tree.keys()].filter((path) => !isMine(path) && !holding.has(path));
    const [one, two, three] = [random.pick(free), random.pick(free), this.#freshPath(tree)].map((path) =>
      path === undefined ? undefined : quoted(path)
    );
    const folder = quotedOr(
      random.pick(of(tree, "folder").filter((path) => !holding.has(path))),
      undefined,
    );
    if (one === undefined || two === undefined || three === undefined) return undefined;
    const n = ++this.#count;
    const mode = random.pick(["755", "644", "600", "444", "000", "555"]) ?? "644";
    const script = random.choose({
      [`printf 'agent ${n}\\000\\377' > ${one}`]: 2,
      [`printf 'agent ${n}\\000' > ${three}`]: 2,
      [`chmod ${mode} ${one}`]: 2,
      [`rm -rf ${one}`]: 2,
      [`mv ${one} ${three}`]: 3,
      [`mv ${one} ${three} && mv ${two} ${one}`]: 2,
      [`mv ${one} ${three} && echo agent ${n} > ${one} && mv ${one} ${three}.2`]: 1,
      [`ln ${one} ${three} && ln ${one} ${three}.2 && rm ${one}`]: 1,
      [`ln -s a ${three}`]: 1,
      [`rm -rf ${one} && ln -s ../nowhere ${one}`]: 1,
      [`rm -rf ${one} && mkdir ${one} && echo agent ${n} > ${one}/a`]: 2,
      [`rm -rf ${one} && echo agent ${n} > ${one}`]: 1,
      [`mkdir -p ${three}/deep && echo agent ${n} > ${three}/deep/a && echo x > ${three}/b`]: 2,
      [`cp -R ${two} ${three}`]: hasMarks(tree) ? 0 : 1,
      [`echo agent ${n} >> ${one}; chmod 000 ${one}`]: 1,
      ...(folder === undefined ? {} : {
        [`mv ${folder} ${three} && ln -s "$PWD"/${three} ${folder}`]: 2,
        [`rm -rf ${folder} && ln -s other ${folder}`]: 1,
        [`chmod -R u+rwx ${folder} && rm -rf ${folder}`]: 2,
        [`echo agent ${n} > ${folder}/ro && chmod 555 ${folder}`]: 2,
        [`chmod 000 ${folder}`]: 1,
        [`chmod 755 ${folder}; echo agent ${n} > ${folder}/a; chmod 555 ${folder}`]: 1,
        [`echo agent ${n} >> ${folder}/a; chmod 000 ${folder}`]: 1,
      }),
      ...this.#linksBack(tree),
    });
    return {
      kind: "command",
      said: `command: ${script}`,
      run: async () => {
        const [stdout, stderr] = ["null", "null"] as const;
        // What fails has failed half-way, as commands do.
        await new Deno.Command("sh", { args: ["-c", script], cwd: this.#root, stdout, stderr }).output();
      },
    };
  }

  /** Folders that have become links, and back. */
  #linksBack(tree: Tree): Record<string, number> {
    const link = this.#random.pick(
      of(tree, "link").filter((path) => tree.get(path)?.what.includes(this.#root)),
    );
    if (link === undefined) return {};
    const path = quoted(link);
    return { [`t=$(readlink ${path}) && rm ${path} && mv "$t" ${path}`]: 6 };
  }

  /** What the user does on the disk; @returns what was done, and the paths that it has deleted */
  async user(tree: Tree, ownFilesOnly: boolean): Promise<{ said: string; gone: readonly string[] }> {
    const random = this.#random;
    const mark = `user-${++this.#count}`;
    const folders = ["", ...of(tree, "folder").filter((path) => this.#isOpen(tree, path))];
    const create = async () => {
      // A file of the user's would stand in the way of one that is to come back.
      const free = ownFilesOnly ? folders.filter((folder) => !this.#wasFile(folder)) : folders;
      const folder = random.pick(free) ?? "";
      const path = join(folder, `mine-${this.#count}`);
      await Deno.writeTextFile(this.#full(path), `${mark}\n`);
      return { said: `user: create ${path}`, gone: [] };
    };
    if (ownFilesOnly) return await create();
    const files = of(tree, "file").filter((path) => this.#isOpen(tree, path));
    const path = random.pick(files);
    if (path === undefined) return await create();
    const full = this.#full(path);
    const text = tree.get(path)?.text ?? "";
    const write = (next: string) => Deno.writeFile(full, Buffer.from(next, "latin1"));
    switch (
      random.choose({ create: 4, append: 4, insert: 4, delete: 2, rename: 2, chmod: 2, folder: 1, binary: 1 })
    ) {
      case "create":
        return await create();
      case "append":
        await write(`${text}${text.endsWith("\n") || text === "" ? "" : "\n"}${mark}\n`);
        return { said: `user: append to ${path}`, gone: [] };
      case "insert": {
        const all = text.split("\n");
        all.splice(random.int(0, all.length - 1), 0, mark);
        await write(all.join("\n"));
        return { said: `user: insert into ${path}`, gone: [] };
      }
      case "delete":
        await Deno.remove(full);
        return { said: `user: delete ${path}`, gone: [path] };
      case "rename": {
        const to = join(parentOf(path), `mine-${this.#count}`);
        await Deno.rename(full, this.#full(to));
        return { said: `user: rename ${path} to ${to}`, gone: [path] };
      }
      case "chmod":
        await Deno.chmod(full, 0o750);
        return { said: `user: chmod 750 ${path}`, gone: [] };
      case "folder":
        await Deno.remove(full);
        await Deno.mkdir(full);
        await Deno.writeTextFile(join(full, `mine-${this.#count}`), `${mark}\n`);
        return { said: `user: a folder instead of ${path}`, gone: [] };
      case "binary":
        await write(`${mark}\0`);
        return { said: `user: binary into ${path}`, gone: [] };
    }
  }

  #wasFile(folder: string): boolean {
    for (let at = folder; at !== ""; at = parentOf(at)) if (this.#files.has(at)) return true;
    return false;
  }

  #edited(text: string): string {
    const random = this.#random;
    const all = text.split("\n");
    const at = random.int(0, Math.max(0, all.length - 2));
    all.splice(at, random.chance(0.5) ? 1 : 0, `agent ${++this.#count}`);
    return all.join("\n");
  }

  #freshPath(tree: Tree): string | undefined {
    const path = randomPath(this.#random);
    const folder = parentOf(path);
    const isThere = tree.has(path) || (folder !== "" && !this.#canHold(tree, folder));
    return isThere ? undefined : path;
  }

  #canHold(tree: Tree, folder: string): boolean {
    for (let at = folder; at !== ""; at = parentOf(at)) {
      const entry = tree.get(at);
      if (entry !== undefined && entry.kind !== "folder") return false;
    }
    return true;
  }

  #isFree(tree: Tree, path: string): boolean {
    return !isMine(path) && this.#isOpen(tree, path);
  }

  #isText(tree: Tree, path: string): boolean {
    return tree.get(path)?.text?.includes("\0") === false;
  }

  /** May be read and written by its owner, wherever it is. */
  #isOpen(tree: Tree, path: string): boolean {
    const { kind, mode = 0 } = tree.get(path) ?? {};
    if (kind !== "link" && (mode & 0o600) !== 0o600) return false;
    for (let at = kind === "folder" ? path : parentOf(path); at !== ""; at = parentOf(at)) {
      if (((tree.get(at)?.mode ?? 0o700) & 0o700) !== 0o700) return false;
    }
    return true;
  }

  #full(path: string): string {
    return join(this.#root, path);
  }
}

function of(tree: Tree, kind: string): readonly string[] {
  return [...tree].filter(([, entry]) => entry.kind === kind).map(([path]) => path);
}

function hasMarks(tree: Tree): boolean {
  return [...tree.values()].some(({ text }) => text?.includes("user-") === true);
}

function quoted(path: string): string {
  return `'./${path.replaceAll("'", "'\\''")}'`;
}

function quotedOr(path: string | undefined, otherwise: undefined): string | undefined {
  return path === undefined ? otherwise : quoted(path);
}
