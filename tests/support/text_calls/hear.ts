/** An answer in text mode as a session reads it: thoughts, words, calls. */
import { withoutEndMark } from "../../../denops/agent/engine/llm/end_mark.ts";
import { Assembly } from "../../../denops/agent/engine/llm/assemble.ts";
import type { ModelEvent } from "../../../denops/agent/engine/llm/client.ts";
import { withTextCalls } from "../../../denops/agent/engine/llm/text_tools/reading.ts";
import { isUnread } from "../../../denops/agent/engine/llm/text_tools/tools.ts";
import { withThoughts } from "../../../denops/agent/engine/llm/thoughts.ts";
import { Prompt } from "../../../denops/agent/engine/log/model_request.ts";
import { TOOLS } from "../../../denops/agent/engine/tools/registry.ts";
import { user } from "../histories.ts";

const prompt = new Prompt("Be brief.", [user("Hi")], TOOLS.map(({ spec }) => spec));

export interface Heard {
  readonly words: string;
  readonly calls: readonly { readonly name: string; readonly arguments: unknown }[];
}

/** What comes of an answer. Calls that cannot be read are none that run. */
export async function hear(model: string, pieces: readonly string[]): Promise<Heard> {
  async function* events(): AsyncGenerator<ModelEvent, void> {
    for (const text of pieces) {
      yield await Promise.resolve({ type: "deltas", deltas: [{ type: "text", text }] });
    }
    yield { type: "done" };
  }
  const assembly = new Assembly();
  const thoughts = withThoughts(events(), { swallowed: undefined });
  for await (
    const event of withoutEndMark(withTextCalls(thoughts, prompt, { model, callsInText: true }, () => {}))
  ) {
    if (event.type === "deltas") event.deltas.forEach((delta) => assembly.add(delta));
  }
  const calls = assembly.calls.filter(({ arguments: args }) => !isUnread(args));
  return {
    words: assembly.text.trim(),
    calls: calls.map(({ name, arguments: args }) => ({ name, arguments: JSON.parse(args) })),
  };
}

/** Pieces of 1 to 12 characters, the same for the same number. */
export function pieces(text: string, number: number): readonly string[] {
  const list: string[] = [];
  let random = number * 2_654_435_761 + 1;
  for (let at = 0; at < text.length;) {
    random = (random * 1_103_515_245 + 12_345) % 2_147_483_648;
    const length = 1 + Math.floor(random / 1_000) % 12;
    list.push(text.slice(at, at + length));
    at += length;
  }
  return list;
}
