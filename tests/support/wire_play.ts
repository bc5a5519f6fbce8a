/** What a wire makes of a history, and of the bytes of an answer, without HTTP. */
import assert from "node:assert/strict";
import { Assembly } from "../../denops/agent/engine/llm/assemble.ts";
import { wire } from "../../denops/agent/engine/llm/registry.ts";
import type { Delta } from "../../denops/agent/engine/llm/wire/wire.ts";
import type { AssistantMessage, Usage } from "../../denops/agent/engine/log/messages.ts";
import type { FinishReason } from "../../denops/agent/engine/log/model_request.ts";
import type { WireName } from "../../denops/agent/protocol/providers.ts";
import { objects, property } from "../model/model_messages.ts";
import { HISTORIES, type HistoryName, request } from "./histories.ts";

export interface Heard {
  readonly message: AssistantMessage;
  /** All thoughts, signed or not. */
  readonly thought: string;
  readonly usage: Usage | undefined;
  readonly finish: FinishReason | undefined;
  readonly ends: readonly Delta[];
}

/** Every delta of these pieces of a body. @throws {Error} of the wire for a frame that is not of its format. */
export function deltasOf(name: WireName, pieces: readonly Uint8Array[]): readonly Delta[] {
  const framing = wire(name).framing();
  const decoder = wire(name).decoder();
  const frames = [...pieces.flatMap((piece) => framing.push(piece)), ...framing.end()];
  return frames.flatMap((frame) => decoder.step(frame));
}

export function hear(name: WireName, pieces: readonly Uint8Array[]): Heard {
  const assembly = new Assembly();
  const deltas = deltasOf(name, pieces);
  for (const delta of deltas) assembly.add(delta);
  return {
    message: assembly.message({ withCalls: true }),
    thought: deltas.map((delta) => delta.type === "thought" ? delta.text : "").join(""),
    usage: assembly.usage,
    finish: assembly.finish,
    ends: deltas.filter(({ type }) => type === "done" || type === "error"),
  };
}

/** An event stream of these values as JSON, or of text as it is. */
export function events(...values: readonly unknown[]): Uint8Array<ArrayBuffer> {
  const data = values.map((value) => typeof value === "string" ? value : JSON.stringify(value));
  return new TextEncoder().encode(data.map((text) => `data: ${text}\n\n`).join(""));
}

export function lines(...values: readonly unknown[]): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(values.map((value) => `${JSON.stringify(value)}\n`).join(""));
}

/** Tests that a wire makes exactly these messages, without the system's, of the histories. */
export function testsOfMessages(
  name: WireName,
  expected: Readonly<Record<HistoryName, readonly unknown[]>>,
): void {
  for (const [what, messages] of Object.entries(HISTORIES)) {
    Deno.test(`${name} sends: ${what}`, () => {
      const endpoint = { baseUrl: "https://models.test", headers: {} };
      const body: unknown = JSON.parse(wire(name).encode(request(messages), endpoint).body);
      const sent = objects(property(body, name === "openai_responses" ? "input" : "messages")).filter((
        { role },
      ) => role !== "system");
      assert.deepEqual(sent, Object.entries(expected).find(([key]) => key === what)?.[1]);
    });
  }
}
