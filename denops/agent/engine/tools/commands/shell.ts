/** The shell's state between the commands of a session, and how the next command starts with it. */
import { isDeepStrictEqual } from "node:util";
import { nameInRoots } from "../../../policy/roots.ts";
import { ToolError } from "../../../shared/errors.ts";
import { shellWord } from "../../../shared/shell_words.ts";
import { defined } from "../../../shared/records.ts";
import type { ShellState } from "../../ports/commands.ts";
import { titleText, type ToolContext } from "../define.ts";

export const NEW_SHELL: ShellState = { exports: [], dropped: [] };

/** Variables that one message lists with their values. */
const MOST_LISTED = 10;

/** Whether later commands start with more than a new shell. */
export function hasState({ exports, activation }: ShellState): boolean {
  return exports.length > 0 || activation !== undefined;
}

/** The line that runs. Exported variables are part of it, so rules judge them and the user sees them. */
export function lineIn({ exports }: ShellState, command: string): string {
  if (exports.length === 0) return command;
  const assignments = exports.map(([name, value]) => `${name}=${shellWord(value)}`);
  return `export ${assignments.join(" ")}; ${command}`;
}

/** Without folders that are gone, or that a link leads elsewhere by now. */
export async function presentIn(
  { activation, ...state }: ShellState,
  workspace: Pick<ToolContext["workspace"], "resolve" | "info">,
): Promise<ShellState> {
  if (activation === undefined) return state;
  const isPresent = async (folder: string): Promise<boolean> => {
    try {
      const resolved = await workspace.resolve(folder);
      return resolved.path === folder && workspace.info(resolved)?.kind === "directory";
    } catch (error) {
      if (error instanceof ToolError) return false;
      throw error;
    }
  };
  const presentOf = async (folders: readonly string[]) => {
    const found: string[] = [];
    for (const folder of folders) if (await isPresent(folder)) found.push(folder);
    return found;
  };
  const [before, after] = [await presentOf(activation.before), await presentOf(activation.after)];
  const [virtualEnv] = await presentOf(activation.virtualEnv === undefined ? [] : [activation.virtualEnv]);
  const isActive = virtualEnv !== undefined || before.length + after.length > 0;
  return isActive ? { ...state, activation: { before, after, ...defined({ virtualEnv }) } } : state;
}

/** The changes for the next commands, in lines for the model. */
export function changeText(before: ShellState, now: ShellState, roots: readonly string[]): string {
  const { exports, activation, dropped } = now;
  const isSame = isDeepStrictEqual([before.exports, before.activation], [exports, activation]);
  const parts = [...activationText(activation, roots), ...exportTexts(exports)];
  const lines = [
    ...isSame ? [] : [
      parts.length === 0
        ? "the next commands start without the variables of earlier ones"
        : `the next commands start with ${parts.join(", ")}`,
    ],
    ...dropped.length === 0 || isDeepStrictEqual(before.dropped, dropped)
      ? []
      : [`not carried over to the next commands: ${dropped.map((name) => titleText(name)).join(", ")}`],
  ];
  return lines.map((line) => `\n[${line}]`).join("");
}

function activationText(activation: ShellState["activation"], roots: readonly string[]): readonly string[] {
  if (activation === undefined) return [];
  const { virtualEnv, before, after } = activation;
  const nameOf = (path: string) => nameInRoots(path, roots) || ".";
  return [
    ...virtualEnv === undefined ? [] : [`VIRTUAL_ENV=${nameOf(virtualEnv)}`],
    ...before.length === 0 ? [] : [`${before.map(nameOf).join(":")} in front of PATH`],
    ...after.length === 0 ? [] : [`${after.map(nameOf).join(":")} behind PATH`],
  ];
}

function exportTexts(exports: ShellState["exports"]): readonly string[] {
  const listed = exports.slice(0, MOST_LISTED).map(([name, value]) => `${name}=${titleText(value, "")}`);
  const left = exports.length - listed.length;
  return left === 0 ? listed : [...listed, `${left} more variables`];
}
