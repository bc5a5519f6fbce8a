/** The hooks of a project: those of the option `hooks`, then those of the project's and the user's files. */
import * as z from "../../deps/zod.ts";
import type { UserConfig } from "../../protocol/config.ts";
import { firstProblem } from "../../protocol/options/problems.ts";
import { HookEvent } from "../../protocol/results/hooks.ts";
import { messageOf } from "../../shared/errors.ts";
import { isRecord } from "../../shared/records.ts";
import { shellWord } from "../../shared/shell_words.ts";
import { jsonFile } from "../system/json_file.ts";
import { cursorEvent } from "./cursor.ts";
import { matcherProblem } from "./matcher.ts";

export interface Hook {
  readonly event: HookEvent;
  /** "" matches everything. */
  readonly matcher: string;
  /** A rule that the call must match too. */
  readonly rule: string | undefined;
  /** A line for bash. */
  readonly command: string;
  /** Seconds. */
  readonly timeout: number;
  /** A failure of it forbids the call, instead of asking the user. */
  readonly failsClosed: boolean;
  /** The file that names it, as the user knows it; undefined: the options. */
  readonly file: string | undefined;
  /** The name of its event in Cursor's file, whose scripts read and write other fields; undefined: Claude Code's. */
  readonly cursor: string | undefined;
}

/** Whether no file of the project names it. */
export function isOfUser({ file }: Pick<Hook, "file">): boolean {
  return file === undefined || file.startsWith("~/");
}

export interface HookList {
  readonly hooks: readonly Hook[];
  /** Entries that are not supported, one line each. */
  readonly problems: readonly string[];
}

/** Sources: code.claude.com/docs/en/hooks; developers.openai.com/codex/hooks; cursor.com/docs/hooks. */
const PROJECT_FILES: readonly string[] = [
  ".agents/hooks.json",
  ".claude/settings.json",
  ".claude/settings.local.json",
];
const USER_FILE = ".claude/settings.json";
const LATER_FILES: readonly string[] = [".codex/hooks.json", ".cursor/hooks.json"];

const DEFAULT_TIMEOUT = 60;
const LONGEST_TIMEOUT = 600;
const LONGEST_COMMAND = 10_000;
const LONGEST_RULE = 500;
/** Hooks of all sources. */
const MOST_HOOKS = 200;

const Command = z.looseObject({
  type: z.string().optional(),
  command: z.string().min(1).max(LONGEST_COMMAND),
  args: z.array(z.string()).optional(),
  if: z.string().max(LONGEST_RULE).optional(),
  timeout: z.number().positive().optional(),
  shell: z.string().optional(),
  onFailure: z.string().optional(),
  /** Cursor's. */
  matcher: z.string().optional(),
  failClosed: z.boolean().optional(),
});
type Command = z.infer<typeof Command>;

interface HookPlace {
  /** Real path of the project. */
  readonly root: string;
  /** The user's home folder. */
  readonly home: string | undefined;
}

export async function hooksOf(own: UserConfig["hooks"], { root, home }: HookPlace): Promise<HookList> {
  const hooks: Hook[] = [];
  const problems: string[] = [];
  const add = (label: string, entries: unknown, file: string | undefined) => {
    try {
      const read = file === ".cursor/hooks.json" ? cursorEntries : groupedEntries;
      for (const entry of read(entries)) addEntry(entry, label, file);
    } catch (error) {
      problems.push(`Cannot use the hooks of ${label}: ${messageOf(error)}. See :help agent-hooks.`);
    }
  };
  const addEntry = ({ event, matcher, entry, cursor }: RawEntry, label: string, file: string | undefined) => {
    const hook = readHook(entry);
    const known = HookEvent.safeParse(event);
    const problem = !known.success
      ? "its event is not supported"
      : typeof hook === "string"
      ? hook
      : matcherProblem(matcher);
    if (problem !== undefined || typeof hook === "string" || !known.success) {
      problems.push(`A hook of ${label} for ${event} does not run: ${problem}. See :help agent-hooks.`);
    } else if (hooks.length < MOST_HOOKS) hooks.push({ ...hook, event: known.data, matcher, file, cursor });
  };
  add("the option hooks", own, undefined);
  const look = async (folder: string | undefined, file: string, label = file) => {
    if (folder === undefined) return;
    try {
      const found = await jsonFile(folder, file);
      if (isRecord(found) && found.disableAllHooks !== true && found.hooks !== undefined) {
        add(label, found.hooks, label);
      }
    } catch (error) {
      problems.push(`Cannot use ${label}: ${messageOf(error)}. Correct the file.`);
    }
  };
  for (const file of PROJECT_FILES) await look(root, file);
  const real = home === undefined ? undefined : await Deno.realPath(home).catch(() => undefined);
  await look(real, USER_FILE, `~/${USER_FILE}`);
  for (const file of LATER_FILES) await look(root, file);
  return { hooks, problems };
}

interface RawEntry {
  readonly event: string;
  readonly matcher: string;
  readonly entry: unknown;
  readonly cursor: string | undefined;
}

/** @throws {Error} half a sentence */
function groupedEntries(entries: unknown): readonly RawEntry[] {
  return eventsIn(entries).flatMap(([event, groups]) =>
    groups.flatMap((group) => {
      const { matcher = "", hooks } = isRecord(group) ? group : {};
      if (typeof matcher !== "string" || !Array.isArray(hooks)) {
        throw new Error(`${event} is not a list of { matcher, hooks }`);
      }
      return hooks.map((entry) => ({ event, matcher, entry, cursor: undefined }));
    })
  );
}

/** @throws {Error} half a sentence */
function cursorEntries(entries: unknown): readonly RawEntry[] {
  return eventsIn(entries).flatMap(([cursor, list]) =>
    list.map((entry) => {
      const { event, matcher } = cursorEvent(cursor, isRecord(entry) ? entry.matcher : undefined);
      return { event, matcher, entry, cursor };
    })
  );
}

/** @throws {Error} half a sentence */
function eventsIn(entries: unknown): readonly (readonly [string, readonly unknown[]])[] {
  if (!isRecord(entries)) throw new Error('"hooks" is not an object');
  return Object.entries(entries).map(([event, list]) => {
    if (!Array.isArray(list)) throw new Error(`${event} is not a list`);
    return [event, list] as const;
  });
}

/** @returns half a sentence if it is not supported */
function readHook(entry: unknown): Pick<Hook, "command" | "timeout" | "rule" | "failsClosed"> | string {
  const { type = "command" } = isRecord(entry) ? entry : {};
  if (type !== "command") return `its type ${String(type).slice(0, 40)} is not supported`;
  const parsed = Command.safeParse(entry);
  if (!parsed.success) return firstProblem(parsed.error);
  const { command, args, shell, timeout = DEFAULT_TIMEOUT, onFailure, failClosed } = parsed.data;
  if (shell !== undefined && shell !== "bash") return `its shell ${shell.slice(0, 40)} is not supported`;
  return {
    command: args === undefined ? command : [command, ...args].map(shellWord).join(" "),
    timeout: Math.min(timeout, LONGEST_TIMEOUT),
    rule: parsed.data.if,
    failsClosed: onFailure === "block" || failClosed === true,
  };
}
