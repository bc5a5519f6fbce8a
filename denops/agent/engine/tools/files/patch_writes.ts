/** Applies a patch: everything is checked before the first write, then each file is written as usual. */
import type { RootedPath } from "../../../policy/roots.ts";
import { ToolError } from "../../../shared/errors.ts";
import type { Diff, FileChange } from "../../log/events.ts";
import { countsOf, lineDiff } from "../../log/line_diff.ts";
import { files, type PreparedCall, type ToolResult } from "../define.ts";
import { applyHunks, parsePatch, type PatchSection } from "./patch.ts";
import { shownPath, type TextFile } from "./text_file.ts";
import { outcomeOf, type Workspace } from "./workspace.ts";
import { plural } from "../../../shared/text/text.ts";

/** Files in one patch, which the user has to read. */
const MOST_FILES = 100;

/** One file after the sections so far. */
interface Planned {
  readonly target: RootedPath;
  /** Undefined: missing, or not text. */
  readonly before: TextFile | undefined;
  /** The version that the model knows. */
  readonly seen: string;
  /** Undefined: deleted. */
  own: string | undefined;
  to?: RootedPath;
}

/** @throws {ToolError} that lists every section that does not fit */
export async function preparePatch(
  patch: string,
  workspace: Workspace,
  signal: AbortSignal,
): Promise<PreparedCall> {
  const plan = new Map<string, Planned>();
  const problems: string[] = [];
  const sections = parsePatch(patch);
  if (sections.length > MOST_FILES) {
    throw new ToolError(`The patch has more than ${MOST_FILES} files. Send several.`);
  }
  for (const section of sections) {
    try {
      await planSection(section, plan, workspace, signal);
    } catch (error) {
      if (!(error instanceof ToolError)) throw error;
      problems.push(error.message);
    }
  }
  if (problems.length > 0) {
    const which = problems.length === 1 ? "" : `${plural(problems.length, "section")} do not fit:\n`;
    throw new ToolError(`Nothing of the patch was written. ${which}${problems.join("\n")}`, "does not fit");
  }
  const steps = [...plan.values()].map((planned) => stepOf(planned, workspace));
  const [first, ...others] = steps.flatMap(({ diffs }) => diffs);
  const diff: Diff | undefined = first && (others.length === 0 ? first : { ...first, others });
  return {
    access: files(...steps.flatMap(({ files }) => files)),
    ...(diff === undefined ? {} : { diff }),
    run: (signal) => runAll(steps, diff, signal),
  };
}

async function planSection(
  section: PatchSection,
  plan: Map<string, Planned>,
  workspace: Workspace,
  signal: AbortSignal,
): Promise<void> {
  const target = section.type === "update"
    ? await workspace.resolveReadable(section.path)
    : await workspace.resolve(section.path);
  const name = shownPath(target);
  const known = plan.get(target.path);
  if (known?.to !== undefined) {
    throw new ToolError(`${name} is moved by a section before: nothing may follow.`);
  }
  if (section.type === "add") {
    if (known === undefined ? target.exists : known.own !== undefined) {
      throw new ToolError(`${name} exists already. Change it with *** Update File.`);
    }
    await workspace.checkFree(target, signal);
    plan.set(target.path, { target, before: undefined, seen: "", ...known, own: section.text });
    return;
  }
  if (known === undefined ? !target.exists : known.own === undefined) {
    throw new ToolError(`${name} does not exist.`);
  }
  if (section.type === "delete") {
    if (workspace.info(target)?.kind === "directory") {
      throw new ToolError(`${name} is a folder; delete its files one by one.`);
    }
    const before = known?.before ?? await workspace.readIfText(target, signal);
    plan.set(target.path, { target, seen: before?.text ?? "", before, ...known, own: undefined });
    return;
  }
  const planned = known ?? await planUpdate(target, workspace, signal);
  const own = applyHunks(planned.own ?? "", section.hunks, name);
  const to = section.to === undefined ? undefined : await workspace.resolve(section.to);
  if (to !== undefined) {
    if (to.exists || plan.has(to.path)) throw new ToolError(`${shownPath(to)} exists already.`);
    await workspace.checkFree(to, signal);
  }
  plan.set(target.path, { ...planned, own, ...(to === undefined ? {} : { to }) });
}

async function planUpdate(target: RootedPath, workspace: Workspace, signal: AbortSignal): Promise<Planned> {
  const before = await workspace.readText(target, signal);
  if (before === undefined) throw new ToolError(`${shownPath(target)} does not exist.`);
  const seen = await workspace.seen(before);
  return { target, before, seen, own: seen };
}

interface Step {
  readonly name: string;
  readonly files: readonly (readonly ["read" | "write", RootedPath])[];
  /** The approver sees each file. */
  readonly diffs: readonly Diff[];
  /** @returns text for the model; `changes` has all changes, even if it throws */
  run(changes: FileChange[], signal: AbortSignal): Promise<string>;
}

function stepOf(planned: Planned, workspace: Workspace): Step {
  const { target, before, seen, own, to } = planned;
  const name = shownPath(target);
  if (own === undefined) {
    return {
      ...{ name, files: [["write", target]], diffs: [lineDiff(target.path, before?.text ?? "", "")] },
      async run(changes, signal) {
        changes.push(await workspace.remove(target, before, signal));
        return "deleted.";
      },
    };
  }
  const after = before === undefined ? own : workspace.merged(before, seen, own);
  const isChanged = before?.text !== after;
  const diff = lineDiff(target.path, before?.text, after);
  const write = async (changes: FileChange[], signal: AbortSignal) => {
    if (!isChanged) return "";
    const change = await workspace.writeText(target, before, after, signal, own);
    changes.push(change);
    return `${before === undefined ? "created" : "changed"} (${countsOf(diff)})${outcomeOf(change, own)}`;
  };
  return {
    name: to === undefined ? name : `${name} → ${shownPath(to)}`,
    files: [
      ...before === undefined ? [] : [["read", target] as const],
      ["write", target],
      ...to === undefined ? [] : [["write", to] as const],
    ],
    diffs: to === undefined
      ? isChanged ? [diff] : []
      : [lineDiff(target.path, before?.text, ""), lineDiff(to.path, undefined, after)],
    async run(changes, signal) {
      const outcome = await write(changes, signal);
      if (to === undefined) return outcome === "" ? "unchanged." : outcome;
      changes.push(await workspace.move(target, to, await workspace.readIfText(target, signal), signal));
      await workspace.noteGiven(to.named, undefined, signal);
      return outcome === "" ? "moved." : `moved and ${outcome}`;
    },
  };
}

/** Successful writes stay; failed files are reported beside them. */
async function runAll(
  steps: readonly Step[],
  diff: Diff | undefined,
  signal: AbortSignal,
): Promise<ToolResult> {
  const changes: FileChange[] = [];
  const lines: string[] = [];
  let failed = 0;
  for (const { name, run } of steps) {
    try {
      lines.push(`${name}: ${await run(changes, signal)}`);
    } catch (error) {
      if (!(error instanceof ToolError) && !(signal.aborted && changes.length > 0)) throw error;
      failed += 1;
      lines.push(`${name}: NOT CHANGED: ${error instanceof ToolError ? error.message : "stopped"}`);
    }
  }
  if (changes.length === 0 && failed > 0) throw new ToolError(`Nothing was changed.\n${lines.join("\n")}`);
  const left = failed === 0 ? "" : `, ${plural(failed, "file")} NOT changed`;
  const only = steps.length === 1 && diff !== undefined && diff.others === undefined
    ? countsOf(diff)
    : undefined;
  const summary = only ?? `${plural(steps.length - failed, "file")}${left}`;
  const text = `Patched ${plural(steps.length - failed, "file")}${left}:\n${lines.join("\n")}`;
  return { text, summary, ...(diff === undefined ? {} : { diff }), changes, failed: failed > 0 };
}
