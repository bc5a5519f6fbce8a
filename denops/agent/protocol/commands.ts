/** Commands between engine and supervisor: ACP's terminal methods with these fields in `_meta`. */
import * as z from "../deps/zod.ts";

/**
 * Levels of commands: they may change nothing, nothing permanent, the project without `.git`, or `.git` too. "try" and
 * "write" run over an overlay of the project if the system supports it; changes of "write" are kept if approved.
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

/** Most folders in front of PATH, and behind it. */
const MOST_FOLDERS = 16;
const Folders = z.array(z.string().min(1)).max(MOST_FOLDERS).readonly();

/** The folders that an activated environment adds to a command's variables: absolute, real, inside the workspace. */
export const Activation = z.object({
  /** The value of VIRTUAL_ENV. */
  virtualEnv: z.string().min(1).optional(),
  /** In front of PATH. */
  before: Folders,
  /** Behind PATH. */
  after: Folders,
});
export type Activation = z.infer<typeof Activation>;

/** The details of a command access: exactly what will run. */
export const CommandInput = z.object({
  command: z.string().min(1),
  /** The root or a folder below it, absolute. */
  cwd: z.string(),
  /** Seconds. */
  timeout: z.number().min(1).max(600),
  /** Undefined: chosen by parsing the line. */
  access: CommandAccess.optional(),
  background: z.boolean(),
  /** Works on the project's files directly, without a rehearsal. */
  direct: z.boolean().optional(),
  /** Without the network: the hosts that it reaches all the same, see policy/hosts.ts. The gate sets them. */
  hosts: z.array(z.string()).readonly().optional(),
  /** From earlier commands of its session. All other variables that carry over are part of the line. */
  activation: Activation.optional(),
});
export type CommandInput = z.infer<typeof CommandInput>;

/** An approved command, whose access is decided. */
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
  /** Changes of files, links and folders, including those that cannot be kept. */
  changes: z.int(),
  /** Start time by the kernel's clock for files, in milliseconds since 1970. */
  started: z.number(),
});
export type CommandEffects = z.infer<typeof CommandEffects>;

/**
 * Whether a path has changed since a command began. Deno reports a file's change time in whole seconds. Within that
 * second, a path counts as changed if its content is old: an atomic write renames the file a moment after its last byte.
 * @param started milliseconds since 1970
 */
export function isChangedSince(
  { mtime, ctime }: Pick<Deno.FileInfo, "mtime" | "ctime">,
  started: number,
): boolean {
  const second = (time: number) => Math.floor(time / 1_000);
  const [written, changed] = [mtime?.getTime() ?? Infinity, ctime?.getTime() ?? 0];
  if (written >= started || second(changed) > second(started)) return true;
  return second(changed) === second(started) && written < started - OLD_MS;
}

/** The longest pause between the last byte of a file and its rename. */
const OLD_MS = 1_000;

/** `_meta["agent.nvim"]` of the answers to terminal/output and terminal/wait_for_exit. */
export const TerminalEnd = z.object({
  /** One line: "exit code 1", "timed out after 120 s". */
  text: z.string(),
  /** The folder of the next command, relative to the root. */
  folder: z.string().optional(),
  /** The start of the next commands, as the command claims; absent if it reported nothing. */
  shell: z.object({
    /** Names and values, sorted by name. */
    exports: z.array(z.tuple([z.string(), z.string()]).readonly()).readonly(),
    activation: Activation.optional(),
    /** Changes that do not carry over: names of variables, or a few words. */
    dropped: z.array(z.string()).readonly(),
  }).optional(),
  /** The changes over the overlay, if any. They take effect once approved and kept. */
  effects: CommandEffects.optional(),
});
export type TerminalEnd = z.infer<typeof TerminalEnd>;

/** Identifies a command in its circumstances; an approval is bound to it. */
export function commandKey(sessionId: string, toolCallId: string, input: ApprovedCommand): string {
  const { command, cwd, timeout, access, background, rehearsed, activation } = input;
  return JSON.stringify([
    sessionId,
    toolCallId,
    command,
    cwd,
    timeout,
    access,
    background,
    rehearsed,
    activation,
  ]);
}
