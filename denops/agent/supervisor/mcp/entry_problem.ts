/** Problems of an entry that its schema does not see. They are found before the user is asked about the entry. */
import { dirname, join, normalize } from "node:path";
import { hostProblem } from "../../policy/hosts.ts";
import { isInside } from "../../policy/path.ts";
import type { McpEntry } from "../../protocol/options/shapes.ts";
import { messageOf } from "../../shared/errors.ts";
import { unknownVariable } from "./templates.ts";

export interface EntryPlace {
  /** Real paths, the project first. */
  readonly roots: readonly string[];
  readonly stateDir: string;
  /** Neovim's own. */
  readonly environment: Readonly<Record<string, string>>;
}

/** As the end of a sentence; undefined if the entry can be used. */
export function entryProblem(entry: McpEntry, place: EntryPlace): string | undefined {
  const { cmd = [], env = {}, hosts = [], cache, url = "", headers = {} } = entry;
  const texts = [...cmd, ...Object.values(env), url, ...Object.values(headers)];
  const unknown = texts.map(unknownVariable).find((variable) => variable !== undefined);
  if (unknown !== undefined) return `it uses ${unknown}, which is not supported`;
  // The user must see the host.
  if (/^\w+:\/\/[^/?#]*\$\{/.test(url)) return "the host of its url has a variable";
  const wrong = hosts.find((host) => hostProblem(host) !== undefined);
  if (wrong !== undefined) return `its host ${wrong} ${hostProblem(wrong)}`;
  try {
    new Headers(headers);
    if (cache !== undefined) cacheFolder(cache, place);
    return undefined;
  } catch (error) {
    return error instanceof TypeError ? "a header has characters that no header can have" : messageOf(error);
  }
}

/**
 * The folder that a server may write. It is a folder for downloads, right below one that no server can write, so that
 * nobody replaces it by a link.
 * @throws {Error} half a sentence, if the path is no such folder
 */
export function cacheFolder(cache: string, { roots, stateDir, environment }: EntryPlace): string {
  const { HOME: home = "/", XDG_CACHE_HOME: xdg } = environment;
  const path = normalize(cache.startsWith("~/") ? join(home, cache.slice(2)) : cache).replace(/\/$/, "");
  const parents = [join(home, ".cache"), join(home, "Library/Caches"), ...xdg ? [normalize(xdg)] : []];
  const isCache = path === join(home, ".npm") || parents.includes(dirname(path));
  if (!isCache || cache.includes("${")) {
    throw new Error(`its cache ${cache} is neither ~/.npm nor a folder of ~/.cache, such as ~/.cache/uv`);
  }
  const real = realPath(path) ?? path;
  const closed = [home, stateDir, ...roots].map((other) => realPath(other) ?? other);
  const isClosed = closed.some((other) => isInside(other, real)) ||
    closed.slice(1).some((other) => isInside(real, other));
  if (isClosed) throw new Error(`its cache ${cache} leads to the project or to a folder of the agent`);
  return path;
}

function realPath(path: string): string | undefined {
  try {
    return Deno.realPathSync(path);
  } catch {
    return undefined;
  }
}
