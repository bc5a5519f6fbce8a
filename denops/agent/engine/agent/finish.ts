/** The end of a turn that the model has ended without a word. */
import type { AgentEvent } from "../core/events.ts";
import type { Message } from "../core/messages.ts";
import { oneLine } from "../llm/failures.ts";
import type { Model } from "../llm/model.ts";
import type { Tool } from "../tools/define.ts";
import type { Meter } from "./meter.ts";
import { runStep } from "./step.ts";

/** A summary is waited for so long. */
const SUMMARY_MS = 20_000;
/** Tool calls that are named where there is none. */
const MOST_DEEDS = 6;

/** Characters of what is said of each. */
const LONGEST_SUMMARY = 120;

const ASK_FOR_SUMMARY =
  "Your answer was empty. Say in a few sentences what you have done and found, and what is left to do. Call no tools.";

const NO_ANSWER = "[No answer.]";

export interface FinishPorts {
  readonly model: Model;
  readonly system: string;
  readonly tools: readonly Tool[];
  readonly meter: Meter;
  emit(event: AgentEvent): void;
  history(): readonly Message[];
  append(message: Message): void;
}

/** What the calls of a turn have come to, a line each. */
export class Deeds {
  readonly #titles = new Map<string, string>();
  readonly #done: string[] = [];

  note(event: AgentEvent): void {
    if (event.type === "tool_start" && event.call.tool !== undefined) {
      this.#titles.set(event.call.id, event.call.title);
    }
    const title = event.type === "tool_done" ? this.#titles.get(event.id) : undefined;
    if (event.type !== "tool_done" || title === undefined) return;
    const { status } = event;
    const summary = oneLine(event.summary, LONGEST_SUMMARY).replace(/\.$/, "");
    const said = status === "failed"
      ? ` failed: ${summary}`
      : /^[+−]/.test(summary)
      ? ` ${summary}`
      : `: ${summary}`;
    this.#done.push(summary === "" ? title : title + said);
  }

  /** Undefined if there were none. */
  text(): string | undefined {
    const last = this.#done.slice(-MOST_DEEDS);
    return last.length === 0 ? undefined : `Done: ${last.join("; ")}.`;
  }
}

/**
 * Asks for a summary, which becomes the answer; without one the last calls are named. The question stays in the
 * history like any, so that what the provider has cached stays a prefix of the next request.
 * @returns what had come if the user stopped it; undefined if the answer is in the history
 */
export async function summarize(
  ports: FinishPorts,
  deeds: Deeds,
  signal: AbortSignal,
  limit: number = SUMMARY_MS,
): Promise<{ readonly stopped: string } | undefined> {
  const { meter, emit, append } = ports;
  append({ role: "user", text: ASK_FOR_SUMMARY });
  // Over a cap nothing more is sent; the question of the cap comes with the next message.
  const came = meter.spending.reached() === undefined ? await askForIt(ports, signal, limit) : "";
  if (signal.aborted) return { stopped: came };
  if (came.trim() !== "") return void append({ role: "assistant", text: came, calls: [], reasoning: [] });
  const text = deeds.text();
  append({ role: "assistant", text: text ?? NO_ANSWER, calls: [], reasoning: [] });
  if (text !== undefined) return void emit({ type: "token", message: crypto.randomUUID(), text });
  const notice = "The model answered with nothing. Ask again in other words.";
  emit({ type: "notice", severity: "warning", text: notice });
  return undefined;
}

/** The text that came, be it whole or not. */
async function askForIt(ports: FinishPorts, signal: AbortSignal, limit: number): Promise<string> {
  const { model, system, tools, meter, emit, history } = ports;
  using timer = new Limit(limit);
  const end = await runStep(
    {
      model,
      tools,
      // Calls are not run, so they are not shown either.
      emit: (event) => event.type === "tool_writing" ? undefined : emit(event),
      count: (measured) => meter.count(measured, "summary", tools),
    },
    { system, messages: history(), tools: tools.map(({ spec }) => spec), textOnly: true },
    AbortSignal.any([signal, timer.signal]),
  );
  return end.type === "answered" ? end.message.text : end.text;
}

/** Unlike AbortSignal.timeout it leaves no timer behind. */
class Limit implements Disposable {
  readonly #controller = new AbortController();
  readonly #timer: ReturnType<typeof setTimeout>;

  constructor(milliseconds: number) {
    this.#timer = setTimeout(() => this.#controller.abort(), milliseconds);
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
  }
}
