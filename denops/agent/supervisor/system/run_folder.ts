/** A folder of this process for small files of its own, gone with it. */

let folder: Promise<string> | undefined;

export function runFolder(): Promise<string> {
  folder ??= Deno.makeTempDir({ prefix: "agent-run-" }).then((path) => Deno.realPath(path));
  return folder;
}

export async function removeRunFolder(): Promise<void> {
  const path = await folder;
  folder = undefined;
  if (path !== undefined) await Deno.remove(path, { recursive: true }).catch(() => {});
}
