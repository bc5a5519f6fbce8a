/** Questions of agents to the user: one string each, shown like an approval. */
import type { CreateElicitationRequest, CreateElicitationResponse } from "../../deps/acp_sdk.ts";
import { ours, QuestionMeta } from "../../protocol/extensions.ts";
import type { Update } from "../../protocol/ui.ts";
import { oneLine, visible } from "../screen/visible.ts";
import { Waiting } from "../screen/waiting.ts";

/** Keys 1 to 9 choose one. */
const MOST_OPTIONS = 9;
const LONGEST_QUESTION = 10_000;

type QuestionAnswer = { readonly answer?: string | undefined } | "cancelled";

export class UserQuestions {
  readonly #push: (update: Update) => void;
  readonly #nextRequest: () => number;
  readonly #waiting = new Waiting<QuestionAnswer>();

  constructor(push: (update: Update) => void, nextRequest: () => number) {
    this.#push = push;
    this.#nextRequest = nextRequest;
  }

  answer(request: number, answer: string | undefined): void {
    this.#waiting.settle(request, { answer });
  }

  /** A chat's turn is over. */
  settle(chat: number): void {
    this.#waiting.settleAll(`chat ${chat}`, "cancelled");
  }

  async ask(elicitation: CreateElicitationRequest, chat: number): Promise<CreateElicitationResponse> {
    const field = firstField(elicitation);
    // Forms with several fields and URLs are unsupported: the agent gets a refusal.
    if (field === undefined) return { action: "decline" };
    const request = this.#nextRequest();
    const options = (ours(QuestionMeta, elicitation._meta)?.options ?? []).slice(0, MOST_OPTIONS)
      .map((option) => oneLine(option));
    const waiting = this.#waiting.add(request, `chat ${chat}`);
    this.#push({
      type: "approval",
      kind: "question",
      chat,
      request,
      tool: toolCallOf(elicitation),
      title: oneLine(elicitation.message),
      reason: "the agent asks",
      question: visible(elicitation.message.slice(0, LONGEST_QUESTION)),
      options,
    });
    const answer = await waiting;
    this.#push({
      type: "approval_closed",
      chat,
      request,
      answer: answer === "cancelled" ? "cancelled" : "answered",
    });
    if (answer === "cancelled") return { action: "cancel" };
    return answer.answer === undefined
      ? { action: "decline" }
      : { action: "accept", content: { [field]: answer.answer } };
  }
}

function toolCallOf(elicitation: CreateElicitationRequest): string {
  return "toolCallId" in elicitation && typeof elicitation.toolCallId === "string"
    ? elicitation.toolCallId
    : "";
}

/** The name of the only field, if it is a string. */
function firstField(elicitation: CreateElicitationRequest): string | undefined {
  if (elicitation.mode !== "form" || !("requestedSchema" in elicitation)) return undefined;
  const schema: unknown = elicitation.requestedSchema;
  if (typeof schema !== "object" || schema === null || !("properties" in schema)) return undefined;
  const { properties } = schema;
  if (typeof properties !== "object" || properties === null) return undefined;
  const [only, ...others] = Object.entries(properties);
  return others.length === 0 && only?.[1]?.type === "string" ? only[0] : undefined;
}
