/** A turn: ask the model, run its calls, until it answers without any or a limit is reached. */
import type { TurnError } from "../core/errors.ts";
import type { Emit, StopReason } from "../core/events.ts";
import type { Message } from "../core/messages.ts";
import type { Model } from "../llm/model.ts";
import { type BatchPorts, runBatch } from "./batch.ts";
import type { Price } from "../../protocol/config.ts";
import { costOf, type Spending } from "./budget.ts";
import { controlPacket } from "./control.ts";
import { ImageRoom } from "../tools/files/image_room.ts";
import { partialAnswer } from "./interrupted.ts";
import { Repeats } from "./repeats.ts";
import { runStep } from "./step.ts";

/** How often an answer that hit the output limit is continued in one turn. */
const MOST_CONTINUATIONS = 3;

/** Errors that are named when the turn may not end yet. */
const MOST_ERRORS = 20;

export interface TurnPorts extends BatchPorts {
  readonly spending: Spending;
  readonly price: Price | undefined;
  readonly model: Model;
  readonly system: string;
  readonly maxIterations: number;
  history(): readonly Message[];
  append(message: Message): void;
}

/** Over a cap the user is asked before anything more is sent. */
async function mayGoOn(ports: TurnPorts, signal: AbortSignal): Promise<boolean> {
  for (let cap = ports.spending.reached(); cap !== undefined; cap = ports.spending.reached()) {
    const call = {
      id: `cap-${crypto.randomUUID()}`,
      tool: "cap",
      title: "go on",
      kind: "other",
      paths: [],
    } as const;
    ports.emit({ type: "tool_start", call });
    const answer = await ports.ask({ call, reason: cap.text, force: true, touches: [] }, signal);
    const allowed = answer.answer === "allow_once" || answer.answer === "allow_session";
    const summary = allowed ? "for as much again" : "stopped at the cap";
    ports.emit({
      type: "tool_done",
      id: call.id,
      status: allowed ? "completed" : "failed",
      summary,
      output: cap.text,
    });
    if (!allowed) return false;
    ports.spending.raise(cap.counter);
  }
  return true;
}

/** Counts what each request used up, on its way to the screen. */
function counting(ports: TurnPorts): Emit {
  return (event) => {
    if (event.type !== "usage") return ports.emit(event);
    const cost = costOf(event.usage, ports.price);
    ports.spending.add(event.usage, cost, new Date().toISOString().slice(0, 10));
    ports.emit(cost === undefined ? event : { ...event, cost });
  };
}

export type TurnEnd =
  | { readonly type: "stopped"; readonly reason: StopReason }
  | { readonly type: "failed"; readonly error: TurnError };

export async function runTurn(text: string, ports: TurnPorts, signal: AbortSignal): Promise<TurnEnd> {
  ports.append({ role: "user", text });
  let continuations = 0;
  ports.spending.beginTurn();
  const emit = counting(ports);
  const repeats = new Repeats();
  let verified = false;
  for (let iteration = 1; iteration <= ports.maxIterations; iteration++) {
    if (!await mayGoOn(ports, signal)) {
      // The last message is the user's, or a tool's: it gets an answer, as ever.
      ports.append(partialAnswer(""));
      return { type: "stopped", reason: signal.aborted ? "cancelled" : "end_turn" };
    }
    const messages = ports.history();
    const prompt = { system: ports.system, messages, tools: ports.tools.map(({ spec }) => spec) };
    const knownIds = new Set(messages.flatMap((message) => message.role === "tool" ? [message.id] : []));
    const end = await runStep(ports.model, prompt, ports.tools, knownIds, emit, signal);
    if (end.type !== "answered") {
      // Every question keeps an answer, so that roles alternate in what the model gets next.
      ports.append(partialAnswer(end.text));
      return end.type === "failed" ? end : { type: "stopped", reason: "cancelled" };
    }
    ports.append(end.message);
    if (end.finish === "refused") return { type: "stopped", reason: "refused" };
    if (end.finish === "length") {
      if (++continuations > MOST_CONTINUATIONS) return { type: "stopped", reason: "max_tokens" };
      ports.append({
        role: "user",
        text: "Your answer hit the output limit. Continue exactly where you stopped. " +
          "A tool call that was cut off was not run: send it again, in smaller pieces.",
      });
      continue;
    }
    if (end.message.calls.length === 0) {
      const fixes = verified ? undefined : await neededFixes(iteration, ports, signal);
      verified = true;
      if (signal.aborted) return { type: "stopped", reason: "cancelled" };
      if (fixes !== undefined) {
        ports.append({ role: "user", text: fixes });
        continue;
      }
      if (end.message.text.trim() === "") {
        ports.emit({
          type: "notice",
          severity: "warning",
          text: "The model answered with nothing. Ask again in other words.",
        });
      }
      return { type: "stopped", reason: "end_turn" };
    }
    const memory = { repeats, iteration, images: new ImageRoom(ports.model.sees, messages) };
    for (const result of await runBatch(end.message.calls, ports, memory, signal)) ports.append(result);
    if (signal.aborted) {
      ports.append(partialAnswer(""));
      return { type: "stopped", reason: "cancelled" };
    }
  }
  ports.append(partialAnswer(""));
  return { type: "stopped", reason: "max_iterations" };
}

/** The verification gate: what to tell the model if the turn has added errors to the files that it wrote. */
async function neededFixes(
  iteration: number,
  { checks, maxIterations, emit }: TurnPorts,
  signal: AbortSignal,
): Promise<string | undefined> {
  if (checks === undefined || iteration >= maxIterations) return undefined;
  const errors = await checks.remaining(signal).catch(() => []);
  if (errors.length === 0) return undefined;
  const added = errors.length === 1 ? "1 error" : `${errors.length} errors`;
  emit({
    type: "notice",
    severity: "info",
    text: `The edits added ${added}; the model is told to fix them.`,
  });
  const more = errors.length > MOST_ERRORS ? `\n[${errors.length - MOST_ERRORS} more]` : "";
  const note = "Your edits added errors that are still there. Fix them, or say why they are to stay:\n" +
    errors.slice(0, MOST_ERRORS).join("\n") + more;
  return controlPacket({ state: "need_fixes", iteration, maxIterations, filesChanged: checks.files, note });
}
