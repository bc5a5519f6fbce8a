/** Files that several Neovims write at the same time. */
import { dirname } from "node:path";

/**
 * Creates a file with exactly these bytes. Readers see the whole file or none.
 * @param path its folder is created if it is missing
 */
export async function wholeFile(path: string, bytes: Uint8Array): Promise<string> {
  const info = await Deno.lstat(path).catch(() => undefined);
  const old = info?.isFile && info.size === bytes.length ? await Deno.readFile(path) : undefined;
  if (old?.every((byte, at) => byte === bytes[at])) return path;
  const temporary = `${path}.${crypto.randomUUID()}`;
  await Deno.mkdir(dirname(path), { recursive: true, mode: 0o700 });
  await Deno.writeFile(temporary, bytes, { mode: 0o600 });
  await Deno.rename(temporary, path);
  return path;
}
