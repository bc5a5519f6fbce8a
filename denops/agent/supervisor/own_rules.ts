/** The user's own rules for all projects: no engine may write them, the supervisor does after an approval. */
import { dirname, join } from "node:path";
import { withLine } from "../protocol/rules_line.ts";
import type { GateContext } from "./gate/gate.ts";
import { OWN_RULES } from "./project/surroundings.ts";

export interface OwnRulesPorts {
  /** Neovim's folder of settings. */
  readonly configDir: string | undefined;
  /** Shows the change; whether the user agrees to it. */
  ask(change: FileWrite, context: GateContext): Promise<boolean>;
  /** Does Neovim hold text of this file that is not saved? */
  isUnsaved(path: string): Promise<boolean>;
}

export interface FileWrite {
  /** Absolute, real. */
  readonly path: string;
  readonly before: string | undefined;
  readonly after: string;
}

/** @returns what was written; undefined if the user has not agreed @throws {Error} one line */
export async function rememberForAll(
  line: string,
  { configDir, ask, isUnsaved }: OwnRulesPorts,
  context: GateContext,
): Promise<FileWrite | undefined> {
  if (configDir === undefined) throw new Error("Neovim has not told its folder of settings");
  const named = join(configDir, ...OWN_RULES);
  // It may be a link into a folder that the user keeps elsewhere: that stays one.
  const path = await Deno.realPath(named).catch(() => named);
  if (await isUnsaved(path)) throw new Error(`${named} has unsaved changes: save it first`);
  const before = await textOf(path);
  const change = { path, before, after: withLine(before ?? "", line) };
  if (!await ask(change, context)) return undefined;
  if (await textOf(path) !== before) throw new Error(`${named} has changed meanwhile; nothing was written`);
  await replace(path, change.after);
  return change;
}

async function textOf(path: string): Promise<string | undefined> {
  try {
    return await Deno.readTextFile(path);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
}

/** All of it, or nothing. Mode and folder stay. */
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
