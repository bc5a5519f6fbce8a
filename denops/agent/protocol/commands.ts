/** How a command crosses between engine and supervisor: ACP's terminal methods, with these in `_meta`. */
import { z } from "../deps/zod.ts";

/**
 * What a command may change: nothing, nothing that stays, the project without `.git`, or `.git` too. "try" and "write"
 * run over an overlay of the project where the system has one; of "write" what it changed is kept if that is agreed to.
 */
export const COMMAND_LEVELS = ["look", "try", "write", "git"] as const;
export type CommandLevel = (typeof COMMAND_LEVELS)[number];

/** A level, alone or with the network. */
export const COMMAND_ACCESSES = [
  "look",
  "look+network",
  "try",
  "try+network",
  "write",
  "write+network",
  "git",
  "git+network",
] as const satisfies readonly (CommandLevel | `${CommandLevel}+network`)[];
export const CommandAccess = z.enum(COMMAND_ACCESSES);
export type CommandAccess = z.infer<typeof CommandAccess>;

export function commandAccess(level: CommandLevel, network: boolean): CommandAccess {
  return network ? `${level}+network` : level;
}

export function levelOf(access: CommandAccess): CommandLevel {
  const [level] = access.split("+") as [CommandLevel];
  return level;
}

export function hasNetwork(access: CommandAccess): boolean {
  return access.endsWith("+network");
}

/** What an access of kind "command" says: exactly what will run. */
export const CommandInput = z.object({
  command: z.string().min(1),
  /** Absolute; the root or a folder below. */
  cwd: z.string(),
  /** Seconds. */
  timeout: z.number().min(1).max(600),
  /** Undefined: what the reading of the line proposes. */
  access: CommandAccess.optional(),
  background: z.boolean(),
  /** Works on the project's files themselves, where it could be rehearsed. */
  direct: z.boolean().optional(),
});
export type CommandInput = z.infer<typeof CommandInput>;

/** As it may run: what it may change is settled. */
export type ApprovedCommand = CommandInput & {
  readonly access: CommandAccess;
  /** It runs over an overlay. */
  readonly rehearsed: boolean;
};

/** `_meta["agent.nvim"]` of terminal/create. */
export const TerminalMeta = CommandInput.extend({
  toolCallId: z.string(),
  access: CommandAccess,
  rehearsed: z.boolean(),
});
export type TerminalMeta = z.infer<typeof TerminalMeta>;

export const CommandEffects = z.object({
  /** Changes of files, links and folders, those that cannot be kept among them. */
  changes: z.int(),
  /** When it began, by the kernel's clock for files: milliseconds since 1970. */
  started: z.number(),
});
export type CommandEffects = z.infer<typeof CommandEffects>;

/**
 * Whether what is there has changed since a command began. Deno tells the time of a file's last change of any kind in
 * whole seconds only: within that second it counts if the content is older.
 *
 * @param started milliseconds since 1970
 */
export function isChangedSince(
  { mtime, ctime }: Pick<Deno.FileInfo, "mtime" | "ctime">,
  started: number,
): boolean {
  const second = (time: number) => Math.floor(time / 1_000);
  const [written, changed] = [mtime?.getTime() ?? Infinity, ctime?.getTime() ?? 0];
  if (written >= started || second(changed) > second(started)) return true;
  return second(changed) === second(started) && second(written) < second(started);
}

/** `_meta["agent.nvim"]` of the answers to terminal/output and terminal/wait_for_exit. */
export const TerminalEnd = z.object({
  /** One line: "exit code 1", "timed out after 120 s". */
  text: z.string(),
  /** Where the next command starts, relative to the root. */
  folder: z.string().optional(),
  /** What it would change, if it ran over an overlay and that is anything: it happens if it is asked for and kept. */
  effects: CommandEffects.optional(),
});
export type TerminalEnd = z.infer<typeof TerminalEnd>;

/** The same command in the same circumstances: what an approval is bound to. */
export function commandKey(sessionId: string, toolCallId: string, input: ApprovedCommand): string {
  const { command, cwd, timeout, access, background, rehearsed } = input;
  return JSON.stringify([sessionId, toolCallId, command, cwd, timeout, access, background, rehearsed]);
}
