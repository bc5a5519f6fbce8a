/**
 * The user's rules for all projects. Engines cannot write them; the supervisor does, after the user's
 * approval.
 */
import { dirname, join } from "node:path";
import { withLine } from "../../protocol/rules/line.ts";
import { defined } from "../../shared/records.ts";
import { OWN_RULES } from "../project/surroundings.ts";
import type { ClientContext } from "./context.ts";

/** Adds a line if the user approves. @returns the result for the engine @throws {Error} one line */
export async function rememberForAll(client: ClientContext, line: string, chat: number): Promise<string> {
  const { ports: { editor, gate, push }, permissions: { user: { config_dir: configDir } } } = client;
  if (configDir === undefined) throw new Error("Neovim has not told its folder of settings");
  const file = join(configDir, ...OWN_RULES);
  // The file may be a link into another folder, which stays a link.
  const path = await Deno.realPath(file).catch(() => file);
  if (editor.mayBeOpen(path) && (await editor.unsavedText(path)).text !== undefined) {
    throw new Error(`${file} has unsaved changes: save it first`);
  }
  const before = await textOf(path);
  const after = withLine(before ?? "", line);
  const context = await client.gateContext(chat, undefined);
  if (!await gate.ownWrite({ path, before, after }, context)) return "Not remembered.";
  if (await textOf(path) !== before) throw new Error(`${file} has changed meanwhile; nothing was written`);
  await replace(path, after);
  if (editor.mayBeOpen(path)) {
    const kind = before === undefined ? "created" : "modified";
    push({ type: "file_modified", chat, path, kind, ...defined({ before }), after });
  }
  return `Remembered for all projects in ${path}.`;
}

async function textOf(path: string): Promise<string | undefined> {
  try {
    return await Deno.readTextFile(path);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
}

/** Replaces the file atomically. Its mode and folder stay. */
async function replace(path: string, text: string): Promise<void> {
  await Deno.mkdir(dirname(path), { recursive: true });
  const mode = (await Deno.stat(path).catch(() => undefined))?.mode;
  const temporary = `${path}.${crypto.randomUUID()}`;
  try {
    await Deno.writeTextFile(temporary, text, { createNew: true });
    if (mode !== undefined && mode !== null && Deno.build.os !== "windows") {
      await Deno.chmod(temporary, mode & 0o777);
    }
    await Deno.rename(temporary, path);
  } catch (error) {
    await Deno.remove(temporary).catch(() => {});
    throw error;
  }
}
