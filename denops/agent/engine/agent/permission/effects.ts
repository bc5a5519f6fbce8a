/** Asks about a command's changes after it ended, and keeps the approved ones. */
import { nameInRoots } from "../../../policy/roots.ts";
import { messageOf, ToolError } from "../../../shared/errors.ts";
import { pauses } from "../../../shared/pauses.ts";
import { CHANGED_MEANWHILE, type Effects, type Keeper, type Kept } from "../../ports/commands.ts";
import type { ApprovalAnswer } from "../../ports/approvals.ts";
import type { ToolResult } from "../../tools/define.ts";
import type { CheckpointPorts } from "./checkpointed.ts";
import { type Permissions, ruleOf } from "./permission.ts";
import { plural } from "../../../shared/text/text.ts";

interface EffectsPorts extends Pick<CheckpointPorts, "emit" | "traps"> {
  readonly checkpoints: Keeper;
  /** Real paths. */
  readonly roots: readonly string[];
}

/** Whose changes they are, and how they are asked about. */
interface EffectsOptions {
  /** "the command" */
  readonly author?: string;
  /** The user must answer; no rule may. */
  readonly isForced?: boolean;
}

/** Files that the message lists by name. */
const MOST_NAMES = 10;

const AS_BEFORE = "The project is as it was before.";

/** Does nothing if the result has no effects. */
export async function settleEffects(
  id: string,
  { effects: found, ...result }: ToolResult,
  permissions: Permissions,
  ports: EffectsPorts,
  signal: AbortSignal,
  { author = "the command", isForced = false }: EffectsOptions = {},
): Promise<ToolResult> {
  if (found === undefined) return result;
  using effects = found;
  const changes = plural(effects.changes, "change");
  const answer = await permissions.ask(
    { access: { kind: "effects", terminal: effects.terminal } },
    `${author} would make ${changes}`,
    isForced,
  );
  const refusal = refusalOf(answer, changes, author);
  if (refusal !== undefined) return notKept(result, refusal, answer.answer === "cancelled");
  ports.emit({ type: "tool_running", id, rule: ruleOf(answer) ?? "asked" });
  return await keep(id, effects, result, { ...ports, author }, signal);
}

async function keep(
  id: string,
  effects: Effects,
  result: ToolResult,
  { checkpoints, emit, traps, roots, author }: EffectsPorts & { readonly author: string },
  signal: AbortSignal,
): Promise<ToolResult> {
  const since = Date.now();
  let kept: Kept;
  try {
    kept = await checkpoints.keep(effects, id, signal);
  } catch (error) {
    if (error instanceof ToolError) return notKept(result, error.message, true);
    const why = signal.aborted ? "the turn was stopped" : messageOf(error);
    return notKept(result, `What ${author} changed was not kept: ${why}. ${AS_BEFORE}`, true);
  }
  const pause = pauses();
  for (const change of kept.changes) {
    await pause();
    emit({ type: "file_modified", id, change: { ...change, since } });
  }
  const changed = kept.left.flatMap(({ path, why }) =>
    why === CHANGED_MEANWHILE ? [nameInRoots(path, roots) ?? path] : []
  );
  if (changed.length > 0) emit({ type: "notice", severity: "warning", text: changedNotice(changed, author) });
  const left = kept.left.length + kept.leftMore;
  const lines = [...keptLines(kept, roots), ...traps.listed(kept.changes)];
  return {
    ...result,
    text: [result.text, ...lines].join("\n") + (await result.whenKept?.() ?? ""),
    summary: `${result.summary}, ${plural(kept.files.length, "file")} kept${
      left === 0 ? "" : `, ${left} not`
    }`,
  };
}

/** The user may not expect the result: of a moved file, for example, both names exist now. */
function changedNotice(names: readonly string[], author: string): string {
  const more = names.length > MOST_NAMES ? ` and ${names.length - MOST_NAMES} more` : "";
  const listed = names.slice(0, MOST_NAMES).join(", ");
  return `Changed meanwhile, so ${author}'s result was not kept: ${listed}${more}.`;
}

function notKept(result: ToolResult, why: string, failed: boolean): ToolResult {
  return {
    ...result,
    text: `${result.text}\n[${why}]`,
    summary: `${result.summary}, not kept`,
    ...(failed ? { failed } : {}),
  };
}

/** Undefined if the user allowed it. @param changes number of changes */
function refusalOf(answer: ApprovalAnswer, changes: string, author: string): string | undefined {
  if (answer.answer === "cancelled") {
    return `What ${author} changed (${changes}) was not kept: the turn was stopped. ${AS_BEFORE}`;
  }
  if (answer.answer !== "reject") return undefined;
  const { reason, rule } = answer;
  const because = (reason ?? rule)?.replace(/\.$/, "");
  const who = rule === undefined
    ? `The user did not keep what ${author} changed (${changes})`
    : `What ${author} changed (${changes}) was not kept`;
  return `${because === undefined ? who : `${who}: ${because}`}. ${AS_BEFORE}`;
}

function keptLines({ files, left, leftMore }: Kept, roots: readonly string[]): readonly string[] {
  const nameOf = (path: string) => nameInRoots(path, roots) ?? path;
  const sum = (which: "added" | "removed") => files.reduce((all, file) => all + (file[which] ?? 0), 0);
  const [added, removed] = [sum("added"), sum("removed")];
  const lines = added + removed === 0 ? "" : ` (+${added} −${removed})`;
  const names = files.length > MOST_NAMES
    ? plural(files.length, "file")
    : files.map(({ path }) => nameOf(path)).join(", ");
  const what = files.length === 0 ? "what it changed of folders" : names;
  const isEmpty = files.length === 0 && left.length > 0;
  const others = left.slice(0, MOST_NAMES).map(({ path, why }) => `${nameOf(path)} (${why})`).join(", ");
  const more = leftMore + Math.max(0, left.length - MOST_NAMES);
  return [
    ...(isEmpty ? [] : [`[kept: ${what}${lines}]`]),
    ...(left.length === 0 ? [] : [
      `[not kept: ${others}${more === 0 ? "" : ` and ${more} more`}]`,
    ]),
  ];
}
