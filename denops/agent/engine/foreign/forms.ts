/** Answers another agent's forms with the user's answers to our own questions. */
import { askForm, Form, type FormAnswer } from "../mcp/elicitation.ts";
import type { Questions } from "../ports/approvals.ts";
import type { AgentConfig } from "./other_agent.ts";
import type { ForeignTurn } from "./turn.ts";

/** Forms of one turn. */
const MOST_FORMS = 20;

interface FormPorts {
  readonly turn: ForeignTurn;
  /** Undefined: the client cannot ask. */
  readonly questions: Questions | undefined;
  readonly config: Pick<AgentConfig, "title">;
  readonly signal: AbortSignal;
}

export class FormAnswers {
  readonly #ports: FormPorts;
  #order: Promise<unknown> = Promise.resolve();
  #count = 0;

  constructor(ports: FormPorts) {
    this.#ports = ports;
  }

  /** One after the other. Never rejects. */
  async answer(request: Readonly<Record<string, unknown>>): Promise<FormAnswer> {
    if (++this.#count > MOST_FORMS) return { action: "decline" };
    const answer = this.#order.then(() => this.#answer(request)).catch((): FormAnswer => ({
      action: "cancel",
    }));
    this.#order = answer;
    return await answer;
  }

  async #answer(request: Readonly<Record<string, unknown>>): Promise<FormAnswer> {
    const { turn, questions, config: { title }, signal } = this.#ports;
    const form = Form.safeParse(request);
    if (signal.aborted) return { action: "cancel" };
    if (request.mode !== "form" || !form.success || questions === undefined) {
      turn.hear({
        type: "notice",
        severity: "info",
        text: "it asked for something that cannot be answered here",
      });
      return { action: "decline" };
    }
    turn.flush();
    const call = typeof request.toolCallId === "string" ? turn.idOf(request.toolCallId) : undefined;
    return await askForm(title, form.data, { questions, call: call ?? "" }, signal);
  }
}
