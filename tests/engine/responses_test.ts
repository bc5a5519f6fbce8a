/** OpenAI's responses through the whole engine: what a model thought goes back to it, and to nobody else. */
import assert from "node:assert/strict";
import { objects } from "../model/model_messages.ts";
import { signatureOf } from "../../denops/agent/scripted_model/wire_anthropic.ts";
import { END_TURN, startEngine } from "../support/engine_session.ts";

const SCRIPT = `think I look first.
say I look.
think Both of them.
call read_file {"path": "a.txt"}
call read_file {"path": "b.txt"}
---
think They differ.
call edit_file {"path": "b.txt", "old_str": "beta", "new_str": "alpha"}
---
say Done.
---
say Fine.
`;

Deno.test("thoughts go back encrypted, each before what it led to, in later turns too", async () => {
  await using engine = await startEngine({
    wire: "openai_responses",
    config: { model: "gpt-5", title: false },
    files: { "a.txt": "alpha\n", "b.txt": "beta\n" },
    script: SCRIPT,
  });
  assert.deepEqual(await engine.prompt("Make them the same."), END_TURN);
  assert.equal(await engine.project.read("b.txt"), "alpha\n");
  assert.deepEqual(await engine.prompt("And now?"), END_TURN);
  assert.deepEqual(engine.server.problems, []);
  const kinds = objects(engine.server.requests.at(-1)?.body.input).map(({ type, role, encrypted_content }) =>
    typeof encrypted_content === "string" ? encrypted_content : role ?? type
  );
  assert.deepEqual(kinds, [
    "user",
    signatureOf("I look first."),
    "assistant",
    signatureOf("Both of them."),
    "function_call",
    "function_call",
    "function_call_output",
    "function_call_output",
    signatureOf("They differ."),
    "function_call",
    "function_call_output",
    "assistant",
    "user",
  ]);
  const thoughts = engine.events.map((event) => event.type === "thought" ? event.text : "").join("");
  assert.equal(thoughts, "I look first.Both of them.They differ.");
});
