import { isDeepStrictEqual } from "node:util";
import * as z from "../../deps/zod.ts";
import { type ApprovedCommand, COMMAND_ACCESSES, type CommandAccess } from "../../protocol/commands.ts";
import { ToolError } from "../../shared/errors.ts";
import { defined } from "../../shared/records.ts";
import type { CommandReport, ShellState } from "../ports/commands.ts";
import { hintFor } from "./commands/hints.ts";
import { changeText, lineIn, NEW_SHELL, presentIn } from "./commands/shell.ts";
import { type ApprovedChanges, defineTool, titleText, type ToolContext } from "./define.ts";

const DEFAULT_TIMEOUT = 120;
/** Background commands have the same limit. */
const LONGEST_TIMEOUT = 600;

/** "network" alone means "look+network". */
const access = z.preprocess(
  (value) => value === "network" ? "look+network" : value,
  z.enum(COMMAND_ACCESSES),
);

export const run = defineTool({
  name: "run",
  description: (shell) =>
    `Run a shell command (${shell}) in the project, in a sandbox without input. access says what it may change: look ` +
    "(nothing), try (anything, none of it is kept: tests, builds, linters), write (files; the user sees what changed " +
    "and agrees), git (the repository too); +network adds the network. The next one starts in the folder it ends in, " +
    "with the variables it exports and the virtual environment it activates. Set background to true for servers and " +
    "watchers, then use job.",
  kind: "execute",
  readOnly: false,
  basic: true,
  least: "read",
  needs: "commands",
  schema: z.object({
    command: z.string().min(1),
    access: access.optional().describe("try, unless what it changes is to stay"),
    direct: z.boolean().optional().describe("asked about first: only if a hint says so"),
    cwd: z.string().optional().describe("folder relative to the project"),
    timeout: z.number().min(1).max(LONGEST_TIMEOUT).optional().describe("seconds, 120 unless told"),
    background: z.boolean().optional().describe("return at once with an id"),
  }),
  title: (args) => `run ${titleText(lineBreaks(args.command))}`,
  async prepare(args, context) {
    const { commands } = context;
    const { folder, note } = await workingFolder(args.cwd, context);
    const { shell, lost } = await startingShell(context);
    const background = args.background === true;
    // In read-only modes, the default is a look.
    const access = args.access ?? (context.access === "write" ? undefined : "look");
    const input = {
      command: lineIn(shell, args.command),
      cwd: folder,
      timeout: args.timeout ?? (background ? LONGEST_TIMEOUT : DEFAULT_TIMEOUT),
      background,
      ...(access === undefined ? {} : { access }),
      ...defined({ direct: args.direct, activation: shell.activation }),
    };
    return {
      access: { kind: "command", ...input },
      async run(signal, approved) {
        const final = {
          ...input,
          ...approved,
          access: settled(approved),
          rehearsed: approved.rehearsed === true,
        };
        if (context.access !== "write" && final.access !== "look") throw noSandbox();
        // From here on the model is told.
        context.session.shell = shell;
        const notes = [
          note,
          lost,
          approved.command === undefined ? undefined : `the user changed the command to: ${approved.command}`,
        ];
        const prefix = notes.filter((line) => line !== undefined).map((line) => `[${line}]\n`).join("");
        if (background) {
          const id = await commands.startInBackground(final, context.callId, signal);
          const text = `${prefix}Started in the background as ${id}. job shows its output, and stops it.`;
          return { text, summary: `in the background as ${id}` };
        }
        const report = await commands.run(final, context.callId, signal);
        if (report.folder !== undefined) context.session.folder = report.folder;
        const line = approved.command ?? args.command;
        const text = reportText(report, approved.access, line, final.rehearsed, approved.hosts);
        const carryOver = () => carriedOver(report, context);
        // A read-only mode refuses more access, so its hints propose none.
        const isRefused = context.access !== "write" && MORE_ACCESS.test(text);
        const isUnwritable = isRefused && report.failed && !text.includes("commands have no network");
        const result = {
          text: prefix + (isRefused ? text.replace(MORE_ACCESS, READ_ONLY_HINT) : text),
          summary: isUnwritable ? `${report.end}: this mode is read-only` : report.end,
          failed: report.failed || signal.aborted,
        };
        return report.effects === undefined
          ? { ...result, text: result.text + await carryOver() }
          : { ...result, effects: report.effects, whenKept: carryOver };
      },
    };
  },
});

function noSandbox(): ToolError {
  return new ToolError(
    "Not run: this mode is read-only, and no sandbox is available to enforce that. Use other tools.",
    "this mode is read-only, and no sandbox is available",
  );
}

const MORE_ACCESS = /call it again with access [^\n]*$/;

const READ_ONLY_HINT = "this mode only reads: go on without, or say what is missing";

/** Clients without levels run commands unrestricted, as far as we know. */
function settled({ access }: ApprovedChanges): ApprovedCommand["access"] {
  return access ?? "git+network";
}

/** Outside of the project it falls back to the root, and notifies the model. */
async function workingFolder(
  cwd: string | undefined,
  context: Pick<ToolContext, "workspace" | "session">,
): Promise<{ folder: string; note?: string }> {
  const { workspace, session } = context;
  const wanted = cwd ?? session.folder;
  try {
    const resolved = await workspace.resolve(wanted === "" ? "." : wanted);
    if (workspace.isScratch(resolved)) throw new ToolError(`${cwd} is outside of the project`);
    if (workspace.info(resolved)?.kind === "directory") return { folder: resolved.path };
    if (cwd !== undefined) throw new ToolError(`${cwd} is not a folder.`);
  } catch (error) {
    if (!(error instanceof ToolError) || !/outside/.test(error.message)) throw error;
    return { folder: workspace.root, note: `${cwd} is outside of the project: the command runs in its root` };
  }
  // The last command's folder is gone.
  session.folder = "";
  return { folder: workspace.root };
}

const LOST = "the session was resumed: variables that earlier commands have set are gone";

/** The shell of the next command, and a note if it lacks what the model expects. */
async function startingShell(
  { workspace, session }: Pick<ToolContext, "workspace" | "session">,
): Promise<{ readonly shell: ShellState; readonly lost?: string }> {
  if (session.shell === undefined) return { shell: NEW_SHELL, lost: LOST };
  const shell = await presentIn(session.shell, workspace);
  const isWhole = isDeepStrictEqual(shell.activation, session.shell.activation);
  return { shell, ...isWhole ? {} : { lost: GONE } };
}

const GONE = "folders that earlier commands added to the environment are gone";

/** The next commands start with what this one leaves. @returns the change, for the model */
async function carriedOver(
  { shell }: CommandReport,
  { workspace, session }: Pick<ToolContext, "workspace" | "session">,
): Promise<string> {
  if (shell === undefined) return "";
  const before = session.shell ?? NEW_SHELL;
  session.shell = await presentIn(shell, workspace);
  return changeText(before, session.shell, workspace.roots);
}

/**
 * @param access what the command could change @param line the command @param rehearsed it ran over an overlay
 * @param hosts that it could reach without the network
 */
export function reportText(
  report: CommandReport,
  access?: CommandAccess,
  line?: string,
  rehearsed?: boolean,
  hosts?: readonly string[],
): string {
  const output = report.output.trimEnd();
  const hint = report.end === "still running"
    ? undefined
    : hintFor(output, access, report.failed, line, rehearsed, hosts);
  return [output === "" ? "(no output)" : output, `[${report.end}]`, ...(hint === undefined ? [] : [hint])]
    .join("\n");
}

/** A title is one line, which still shows where the command has several. */
function lineBreaks(command: unknown): unknown {
  return typeof command === "string" ? command.trim().replace(/\s*\n\s*/g, " ⏎ ") : command;
}
