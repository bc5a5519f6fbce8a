/** Stores what another agent said and did as messages, so that any model can continue the session. */
import { middleCut } from "../../shared/text/text.ts";
import type { RunnerPorts } from "../agent/turn/runner.ts";
import type { ResultEntry } from "../log/entries.ts";
import type { ToolCall } from "../log/messages.ts";
import type { ForeignCall } from "./call.ts";

/** Characters of a result. */
const LONGEST_RESULT = 8_000;
/** Characters of an answer. */
const LONGEST_ANSWER = 100_000;

export class Spoken {
  readonly #ports: Pick<RunnerPorts, "append">;
  #text = "";
  #calls: ForeignCall[] = [];

  constructor(ports: Pick<RunnerPorts, "append">) {
    this.#ports = ports;
  }

  say(text: string): void {
    if (this.#calls.length > 0 && this.#calls.every(({ end }) => end !== undefined)) this.store();
    this.#text += text;
  }

  call(call: ForeignCall): void {
    // A sub-agent's call is part of the call above it.
    if (call.parent === undefined) this.#calls.push(call);
  }

  /** Stores one answer with the results of its calls. Open calls have no result, which a resume adds. */
  store(): void {
    const calls = this.#calls.map(callOf);
    if (this.#text.trim() === "" && calls.length === 0) return;
    this.#ports.append({ type: "assistant_message", text: this.#take(), calls, reasoning: [] });
    for (const call of this.#calls) this.#ports.append(resultOf(call));
    this.#calls = [];
  }

  /** Stores the rest. @param more calls and results of our own that come before the agent's last words */
  finish(more: readonly ResultEntry[], incomplete: boolean): void {
    if (this.#calls.length > 0) this.store();
    const last = this.#take();
    if (more.length > 0) {
      const calls = more.map(({ id, name }) => ({ id, name, arguments: "{}" }));
      this.#ports.append({ type: "assistant_message", text: "", calls, reasoning: [] });
      for (const result of more) this.#ports.append(result);
    }
    // Each question needs an answer, and providers refuse an empty one.
    const text = last.trim() === "" && !incomplete ? "Done." : last;
    const interrupted = incomplete ? { interrupted: true as const } : {};
    this.#ports.append({ type: "assistant_message", text, calls: [], reasoning: [], ...interrupted });
  }

  #take(): string {
    const text = this.#text;
    this.#text = "";
    return middleCut(text, LONGEST_ANSWER);
  }
}

/** The name of the call's tool in the log. */
export function callName({ agent, kind }: ForeignCall): string {
  return `${agent}_${kind}`.replace(/\W/g, "_");
}

function callOf(call: ForeignCall): ToolCall {
  const { id, title, command, paths } = call;
  const input = {
    title,
    ...(command === undefined ? {} : { command }),
    ...(paths.length === 0 ? {} : { paths }),
  };
  return { id, name: callName(call), arguments: JSON.stringify(input) };
}

function resultOf(call: ForeignCall): ResultEntry {
  const { id, end } = call;
  const text = middleCut(call.text, LONGEST_RESULT) || (end === "completed" ? "Done." : "Failed.");
  return { type: "tool_result", id, name: callName(call), text, isError: end !== "completed" };
}
