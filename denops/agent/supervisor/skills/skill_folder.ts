/** Reads the folder of a skill: its SKILL.md, the names of its files, and a hash of everything in it. */
import { type BigIntStats, lstatSync, readdirSync } from "node:fs";
import { readlink, realpath } from "node:fs/promises";
import { join, relative } from "node:path";
import { isInside } from "../../policy/path.ts";
import { encodeHex } from "../system/hex.ts";
import { oneFile } from "../system/one_file.ts";

/** Its text, in the folder. */
export const SKILL_FILE = "SKILL.md";

/** Bytes of SKILL.md, and of all files. */
const LONGEST_TEXT = 100 * 1024;
const MOST_BYTES = 32 * 1024 ** 2;
/** Files and folders. */
const MOST_ENTRIES = 500;
const DEEPEST = 8;

export interface SkillFolder {
  /** Of SKILL.md. */
  readonly text: string;
  /** A hash of the text. */
  readonly version: string;
  /** Relative to the folder, sorted, without SKILL.md and without links that lead out of it. */
  readonly files: readonly string[];
  /** Number of links that lead out of it. */
  readonly links: number;
  /** A hash of all names and contents; "" for a folder that needs no approval. */
  readonly hash: string;
}

interface Entry {
  /** Relative to the folder, with slashes. */
  readonly name: string;
  readonly path: string;
  readonly info: BigIntStats;
}

/** @param folder its real path @param isHashed it needs an approval @throws {Error} one line */
export async function readSkillFolder(folder: string, isHashed: boolean): Promise<SkillFolder> {
  return await read(folder, entriesIn(folder), isHashed);
}

/** Keeps what was read of a folder as long as the system reports no change in it. */
export class SkillFolders {
  readonly #known = new Map<string, { readonly stamp: string; readonly read: Promise<SkillFolder> }>();

  /** @param folder its real path @throws {Error} one line */
  async of(folder: string, isHashed: boolean): Promise<SkillFolder> {
    const entries = entriesIn(folder);
    const stamp = entries.map(({ name, info: { mode, ino, size, mtimeNs, ctimeNs } }) =>
      JSON.stringify([name, ...[mode, ino, size, mtimeNs, ctimeNs].map(String)])
    ).join();
    const known = this.#known.get(folder);
    if (known?.stamp === stamp) return await known.read;
    const reading = read(folder, entries, isHashed);
    reading.catch(() => this.#known.delete(folder));
    this.#known.set(folder, { stamp, read: reading });
    return await reading;
  }
}

/**
 * A text file of a skill, and its real name in the folder.
 * @param folder its real path @param path absolute @returns undefined if it is not text
 * @throws {Error} one line, also for a link that leads out of the folder
 */
export async function readInSkill(
  folder: string,
  path: string,
  most: number,
): Promise<{ readonly name: string; readonly text: string } | undefined> {
  const { real, text, bytes } = await oneFile(path, most);
  if (!isInside(real, folder)) throw new Error("it leads out of the skill's folder");
  return bytes.includes(0) ? undefined : { name: relative(folder, real), text };
}

async function read(folder: string, entries: readonly Entry[], isHashed: boolean): Promise<SkillFolder> {
  const parts: string[] = [];
  const files: string[] = [];
  let links = 0;
  let text: string | undefined;
  let version = "";
  for (const { name, path, info } of entries) {
    const kind = info.isSymbolicLink() ? "link" : info.isFile() ? "file" : "other";
    const target = kind === "link" ? await readlink(path) : "";
    const isOut = kind === "link" && !isInside(await realpath(path).catch(() => "/"), folder);
    if (isOut) links += 1;
    let hash = "";
    if (kind === "file" && !isHashed && name !== SKILL_FILE) files.push(name);
    else if (kind !== "other" && !isOut) {
      const file = await oneFile(path, name === SKILL_FILE ? LONGEST_TEXT : MOST_BYTES)
        .catch((error) => {
          // A link to a folder inside: its files are listed under their own names.
          if (kind === "link") return undefined;
          throw named(name, error);
        });
      if (file !== undefined && !isInside(file.real, folder)) throw new Error(`${name} is changing`);
      if (file !== undefined) {
        hash = await sha256(file.bytes);
        if (name === SKILL_FILE) [text, version] = [file.text.replaceAll("\r\n", "\n"), hash.slice(0, 12)];
        else files.push(name);
      }
    }
    // The system's own bits do not matter, that it can run does.
    parts.push(JSON.stringify([name, kind, target, hash, Boolean(info.mode & 0o111n)]));
  }
  if (text === undefined) {
    const isLink = entries.some(({ name, info }) => name === SKILL_FILE && info.isSymbolicLink());
    throw new Error(`its ${SKILL_FILE} ${isLink ? "leads out of its folder" : "is not a regular file"}`);
  }
  const hash = isHashed ? await sha256(new TextEncoder().encode(parts.join("\n"))) : "";
  return { text, version, files, links, hash };
}

/** Everything but folders, sorted. @throws {Error} one line, if the folder is too large */
function entriesIn(folder: string): readonly Entry[] {
  const found: Entry[] = [];
  let bytes = 0n;
  let count = 0;
  const visit = (within: string, depth: number): void => {
    if (depth > DEEPEST) throw new Error(`it has folders in folders, more than ${DEEPEST} deep`);
    for (const file of readdirSync(join(folder, within)).sort()) {
      if (++count > MOST_ENTRIES) throw new Error(`it has more than ${MOST_ENTRIES} files and folders`);
      const name = within === "" ? file : `${within}/${file}`;
      const path = join(folder, name);
      // One after the other they take a fraction of the time that as many requests to the system take.
      const info = lstatSync(path, { bigint: true });
      if (info.isDirectory()) {
        visit(name, depth + 1);
        continue;
      }
      bytes += info.size;
      found.push({ name, path, info });
      if (bytes > MOST_BYTES) throw new Error(`it has more than ${MOST_BYTES / 1024 ** 2} MB`);
    }
  };
  visit("", 1);
  return found;
}

function named(name: string, error: unknown): Error {
  return new Error(`${name}: ${error instanceof Error ? error.message : String(error)}`);
}

async function sha256(bytes: Uint8Array): Promise<string> {
  return encodeHex(new Uint8Array(await crypto.subtle.digest("SHA-256", bytes.slice())));
}
