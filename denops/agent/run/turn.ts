/** Runs one turn in a supervisor without Neovim. */
import type * as z from "../deps/zod.ts";
import { startHeadless } from "../headless/headless.ts";
import type { Variables } from "../headless/folders.ts";
import type { Action } from "../protocol/actions.ts";
import type { Update } from "../protocol/ui.ts";
import { defined } from "../shared/records.ts";
import { EXIT, type RunRequest } from "./command_line.ts";
import type { EndEvent, RunEvent } from "./events.ts";
import { type Preparation, UsageError } from "./preparation.ts";
import type { Signals } from "./signals.ts";
import { TurnReport } from "./turn_report.ts";

type UpdateOf<Type extends Update["type"]> = Extract<Update, { type: Type }>;

export interface TurnWorld {
  readonly variables: Variables;
  readonly signals: Signals;
  emit(event: RunEvent): void;
}

const CHAT = 1;
const REQUEST = 1;

/** @throws {Error} one line, if the turn cannot start @throws {UsageError} if a choice is invalid */
export async function runTurn(
  { text, typed, config, root, session }: Preparation,
  choices: Pick<RunRequest, "mode" | "model" | "provider" | "allow" | "unsandboxed">,
  { variables, signals, emit }: TurnWorld,
): Promise<EndEvent> {
  const listeners = new Set<(update: Update) => void>();
  const show = (batch: readonly Update[]) => {
    for (const update of batch) for (const listener of listeners) listener(update);
  };
  await using headless = await startHeadless({ config, root, variables, show, allow: choices.allow });
  const next = <Found>(find: (update: Update) => Found | undefined) => {
    const { promise, resolve } = Promise.withResolvers<Found>();
    const listener = (update: Update) => {
      const found = find(update);
      if (found === undefined) return;
      listeners.delete(listener);
      resolve(found);
    };
    listeners.add(listener);
    return promise;
  };
  const act = (action: z.input<typeof Action>) => headless.act(action);
  const place = { chat: CHAT, root, ...defined({ session }) };
  for (const choice of session === undefined ? choicesOf({ mode: choices.mode }) : choicesOf(choices)) {
    const outcome = next((update) =>
      isError(update) ? update.text : choice.confirms(update) ? "" : undefined
    );
    act({ ...place, ...choice.action });
    const problem = await outcome;
    if (problem !== "") throw new UsageError(problem);
  }
  const report = new TurnReport({ emit, act, uncovered: await uncoveredBy(choices) });
  listeners.add((update) => report.take(update));
  const done = next((update) => update.type === "turn_done" ? update : undefined);
  signals.onStop = () => act({ type: "cancel", chat: CHAT });
  act({ type: "prompt", text, typed, ...place });
  const outcome = outcomeOf(await done, report, signals.exitCode);
  signals.onStop = undefined;
  const { answer, cost, session: id } = report;
  return { ...outcome, answer, ...defined({ cost, session: id }) };
}

/** A literal import would be loaded before the engine starts. */
const RULES = "../policy/matching_rules.ts";

/** Why the rules of the command line do not cover a command; undefined without `--unsandboxed`. */
async function uncoveredBy({ allow, unsandboxed }: Pick<RunRequest, "allow" | "unsandboxed">) {
  if (!unsandboxed) return undefined;
  const { uncovered }: typeof import("../policy/matching_rules.ts") = await import(RULES);
  return (command: string) => uncovered(allow, command);
}

interface Choice {
  readonly action:
    | { readonly type: "mode"; readonly mode: string }
    | { readonly type: "model"; readonly model: string }
    | {
      readonly type: "provider";
      readonly request: number;
      readonly provider: string;
      readonly model?: string;
    };
  confirms(update: Update): boolean;
}

/** A stored session keeps its mode and model, unless the command line names others. */
function choicesOf(
  { mode, model, provider }: Partial<Pick<RunRequest, "mode" | "model" | "provider">>,
): readonly Choice[] {
  const ofModel: Choice | undefined = provider !== undefined
    ? {
      action: { type: "provider", request: REQUEST, provider, ...defined({ model }) },
      confirms: (update) => update.type === "provider" && update.end === "done",
    }
    : model !== undefined
    ? {
      action: { type: "model", model },
      confirms: (update) => update.type === "agent_state" && update.model === model,
    }
    : undefined;
  const ofMode: Choice | undefined = mode === undefined ? undefined : {
    action: { type: "mode", mode },
    confirms: (update) => update.type === "agent_state" && update.mode === mode,
  };
  return [ofModel, ofMode].filter((choice) => choice !== undefined);
}

function isError(update: Update): update is UpdateOf<"notice"> {
  return update.type === "notice" && update.severity === "error";
}

/** Errors of turns that end without one. */
const ENDS: Readonly<Record<string, string>> = {
  max_tokens: "The answer was cut off at the limit of tokens.",
  refusal: "The model refused to answer.",
  cancelled: "The turn was stopped.",
};

function outcomeOf(
  { reason, error, problem: noAnswer }: UpdateOf<"turn_done">,
  { isCapped, isRefused }: TurnReport,
  stopCode: number | undefined,
): Pick<EndEvent, "type" | "code" | "reason" | "error"> {
  const type = "end";
  if (stopCode !== undefined) return { type, code: stopCode, reason: "stopped", ...defined({ error }) };
  if (isCapped || reason === "max_turn_requests") return { type, code: EXIT.cap, reason: "cap" };
  const problem = error ?? ENDS[reason] ?? noAnswer;
  if (problem !== undefined) return { type, code: EXIT.failed, reason: "failed", error: problem };
  return isRefused
    ? { type, code: EXIT.refused, reason: "refused" }
    : { type, code: EXIT.done, reason: "done" };
}
