/** Answers in the dialect of Gemini. Source: Google, "Gemini API: generating content". */
import type { Answer, ScriptedPart } from "../../denops/agent/scripted_model/answer.ts";

const USAGE = { promptTokenCount: 1_200, candidatesTokenCount: 50, totalTokenCount: 1_250 };

/** The chunks of an answer. */
export function geminiChunks({ parts }: Answer, request: number): readonly unknown[] {
  const shown = parts.map(shownPart).filter((part) => part !== undefined);
  return [
    ...shown.map((part) => chunk(part, request)),
    chunk({ text: "" }, request, { finishReason: "STOP" }),
  ];
}

function shownPart(part: ScriptedPart): unknown {
  if (part.kind === "say") return { text: part.text };
  if (part.kind === "think") return { text: part.text, thought: true };
  if (part.kind !== "call") return undefined;
  return { functionCall: { name: part.name, args: JSON.parse(part.arguments) } };
}

function chunk(part: unknown, request: number, end: { readonly finishReason?: string } = {}) {
  return {
    candidates: [{ index: 0, content: { role: "model", parts: [part] }, ...end }],
    usageMetadata: USAGE,
    modelVersion: "scripted",
    responseId: `response_${request}`,
  };
}

/** Questions that Gemini's own agent asks beside the turn, each with a schema for the answer. */
export function sideAnswer(body: string): string {
  return body.includes('"next_speaker"')
    ? JSON.stringify({ reasoning: "It is done.", next_speaker: "user" })
    : JSON.stringify({
      reasoning: "-",
      model_choice: "flash",
      complexity_reasoning: "-",
      complexity_score: 1,
    });
}
