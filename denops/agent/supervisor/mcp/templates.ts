/** Variables in the texts of an MCP server's entry: ${NAME} and ${NAME:-default}. Pure. */
import type { McpEntry } from "../../protocol/options/shapes.ts";

/** Also as VS Code and Cursor write them: ${env:NAME}, ${workspaceFolder}. */
const VARIABLE = /\$\{(?:env:)?([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}/g;
/** The project's folder, under the names that files of other editors use. */
const FOLDER: ReadonlySet<string> = new Set(["workspaceFolder", "workspaceRoot", "CLAUDE_PROJECT_DIR"]);

export interface TemplateValues {
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Real path of the project's folder. */
  readonly root: string;
}

/** @throws {Error} one line, if a variable has no value */
export function filledIn(text: string, { environment, root }: TemplateValues): string {
  return text.replace(VARIABLE, (_, name: string, fallback: string | undefined) => {
    const value = FOLDER.has(name) ? root : environment[name] || fallback;
    if (value === undefined) throw new Error(`the variable ${name} is not set`);
    return value;
  });
}

/** A variable that is none of Neovim's, such as VS Code's ${input:token}. */
export function unknownVariable(text: string): string | undefined {
  return /\$\{[^}]*\}?/.exec(text.replace(VARIABLE, ""))?.[0];
}

/** Names of all of Neovim's variables that the server gets, or that its texts contain. */
export function variablesOf({ cmd = [], env = {}, url = "", headers = {} }: McpEntry): readonly string[] {
  const passed = Array.isArray(env) ? env : [];
  const values = Array.isArray(env) ? [] : Object.values(env);
  const texts = [...cmd, ...values, url, ...Object.values(headers)];
  const used = texts.flatMap((text) => [...text.matchAll(VARIABLE)].map(([, name = ""]) => name));
  return [...new Set([...passed, ...used.filter((name) => !FOLDER.has(name))])];
}
