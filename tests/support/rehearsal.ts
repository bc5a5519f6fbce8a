/** Commands over overlays of a project, without Neovim, at the mounts of a command that may write. */
import { join } from "node:path";
import type { OverlayChanges } from "../../denops/agent/supervisor/commands/overlay/changes.ts";
import { Overlay, type OverlayOptions } from "../../denops/agent/supervisor/commands/overlay/overlay.ts";
import { bwrapArguments } from "../../denops/agent/supervisor/system/sandbox/mounts.ts";
import { commandMounts } from "../../denops/agent/supervisor/system/sandbox/command_mounts.ts";
import { type CommandEnd, RunningCommand } from "../../denops/agent/supervisor/commands/runner.ts";
import { processTree } from "../../denops/agent/supervisor/commands/process_tree.ts";
import { findProgram, sandbox } from "../../denops/agent/supervisor/system/sandbox.ts";
import { TOOLS } from "./command_sandbox.ts";

const LONGEST_MS = 60_000;
/** The mounts come by descriptor 4, as the supervisor hands them on. */
const ENTER = `exec 4<&0 </dev/null; exec "$@"`;

export interface Rehearsed {
  readonly output: string;
  readonly end: CommandEnd;
  /** For each root. */
  readonly changes: readonly OverlayChanges[];
}

export interface Running {
  readonly command: RunningCommand;
  /** Its own, as they are at this moment. */
  processes(): Promise<readonly number[]>;
  /** Holds the name space. */
  readonly holder: number;
}

interface Watching {
  /** Is called as soon as the command runs. */
  running?(running: Running): void;
}

/** @param use looks at what was written while that is there: it is given the upper folder of each root */
export async function rehearse(
  options: OverlayOptions,
  line: string,
  use: (changes: readonly OverlayChanges[], uppers: readonly string[]) => void = () => {},
  watching: Watching = {},
): Promise<Rehearsed> {
  const { roots } = options;
  await using overlay = await Overlay.start(options);
  const mark = crypto.randomUUID();
  const command = await start(options, line, overlay.enter, mark);
  const processes = async () =>
    (await processTree(Deno.pid)).filter((pid) => environmentOf(pid).includes(mark));
  watching.running?.({ command, processes, holder: Number(overlay.enter[2]) });
  const end = await command.ended;
  const changes = await overlay.list(AbortSignal.timeout(LONGEST_MS));
  use(changes, roots.map((_, index) => overlay.upper(index)));
  return { output: command.output, end, changes };
}

/** The same command in the same sandbox, but on the roots themselves. */
export async function runDirectly(
  options: Pick<OverlayOptions, "roots" | "state">,
  line: string,
): Promise<string> {
  const command = await start(options, line, [], "");
  await command.ended;
  return command.output;
}

async function start(
  { roots, state }: Pick<OverlayOptions, "roots" | "state">,
  line: string,
  enter: readonly string[],
  mark: string,
): Promise<RunningCommand> {
  const [cwd = ""] = roots;
  const found = await sandbox(roots);
  if (found.level !== "bubblewrap") throw new Error(found.reason);
  const mounts = commandMounts({
    level: "write",
    roots,
    home: undefined,
    system: found.system,
    git: { bound: [], guarded: [] },
    masks: { folders: [], files: [] },
    hidden: [],
    read: [TOOLS],
    write: [],
    own: [state],
    gitConfig: undefined,
  });
  const args = bwrapArguments({ network: false, cwd, mounts });
  const sh = await findProgram("sh", roots) ?? "sh";
  const bash = await findProgram("bash", roots) ?? "bash";
  const user = ["--uid", String(Deno.uid()), "--gid", String(Deno.gid())];
  const [program = "", ...rest] = [
    ...enter,
    ...[sh, "-c", ENTER, "sh", found.bwrap, ...user, "--args", "4", "--", bash],
  ];
  return new RunningCommand({
    program,
    args: rest,
    input: new TextEncoder().encode(args.map((argument) => `${argument}\0`).join("")),
    line,
    cwd,
    env: { PATH: Deno.env.get("PATH") ?? "", MARK: mark },
    timeoutMs: LONGEST_MS,
    sweep: () => Promise.resolve([]),
  }, () => {});
}

/** What is left of overlays in a state folder. */
export function leftovers(state: string): readonly string[] {
  try {
    return Array.from(Deno.readDirSync(join(state, "overlays")), ({ name }) => name)
      .filter((name) => name !== "lock");
  } catch {
    return [];
  }
}

function environmentOf(pid: number): string {
  try {
    return Deno.readTextFileSync(`/proc/${pid}/environ`);
  } catch {
    return "";
  }
}
