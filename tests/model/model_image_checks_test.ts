import assert from "node:assert/strict";
import { GIF, pngFile } from "../support/pictures.ts";
import { checkRequest } from "./model_checks.ts";
import { chatBody, chatHeaders } from "./model_requests.ts";
import type { ScriptedWire } from "../../denops/agent/scripted_model/wires.ts";

const PNG = pngFile(2, 2).toBase64();
const user = { role: "user", content: "Hi" };

function problems(wire: ScriptedWire, ...messages: readonly unknown[]): readonly string[] {
  return checkRequest(wire, chatHeaders(wire), chatBody(wire, messages));
}

const url = (data: string, type = "image/png") => ({
  type: "image_url",
  image_url: { url: `data:${type};base64,${data}` },
});
const openai = (...content: readonly unknown[]) => problems("openai_chat", { role: "user", content });
const ollama = (message: Readonly<Record<string, unknown>>) => problems("ollama", { ...user, ...message });

function anthropic(content: unknown): readonly string[] {
  const use = { role: "assistant", content: [{ type: "tool_use", id: "c1", name: "read", input: {} }] };
  const results = { role: "user", content: [{ type: "tool_result", tool_use_id: "c1", content }] };
  return problems("anthropic_messages", user, use, results);
}
const block = (data: string, media_type = "image/png", type = "base64") => ({
  type: "image",
  source: { type, media_type, data },
});
const text = { type: "text", text: "a.png:" };

Deno.test("sound images have no problems", () => {
  assert.deepEqual(openai(text, url(PNG), text, url(GIF.toBase64(), "image/gif")), []);
  assert.deepEqual(ollama({ images: [PNG, GIF.toBase64()] }), []);
  assert.deepEqual(anthropic([text, block(PNG), text, block(GIF.toBase64(), "image/gif")]), []);
  assert.deepEqual(anthropic(""), []);
});

Deno.test("what a provider would refuse of an image is a problem", () => {
  const one = (found: readonly string[], problem: RegExp) => {
    assert.equal(found.length, 1, found.join("\n"));
    assert.match(found[0] ?? "", problem);
  };
  one(openai(url(PNG, "image/jpeg")), /is said to be image\/jpeg, and is image\/png/);
  one(openai(url("hm!")), /is not base64/);
  one(openai(url(btoa("no image"))), /an image is none/);
  one(openai(url("A".repeat(5 * 1024 * 1024 + 4))), /5242884 bytes of base64/);
  one(openai({ type: "text", text: "" }, url(PNG)), /has an empty text/);
  one(openai({ type: "image", url: PNG }), /has a part of type image/);
  one(openai(...Array(21).fill(url(PNG))), /there are 21 images/);
  one(ollama({ images: [`data:image/png;base64,${PNG}`] }), /is not base64/);
  one(ollama({ images: [] }), /images a list/);
  one(anthropic([text, block(PNG, "image/png", "url")]), /not of type base64/);
  one(anthropic([text, block(PNG, "image/webp")]), /is said to be image\/webp/);
  one(anthropic([text, { type: "image_url" }]), /has a part of type image_url/);
});

Deno.test("images are the user's only", () => {
  const calls = [{ id: "c1", type: "function", function: { name: "read", arguments: "{}" } }];
  const result = { role: "tool", tool_call_id: "c1", content: [url(PNG)] };
  const found = problems("openai_chat", user, { role: "assistant", content: "", tool_calls: calls }, result);
  assert.ok(found.some((problem) => problem.includes("message 2 (tool) has images, only the user's may")));
  const call = [{ function: { name: "read", arguments: {} } }];
  const shown = { role: "tool", tool_name: "read", content: "An image.", images: [PNG] };
  assert.deepEqual(
    problems("ollama", user, { role: "assistant", content: "", tool_calls: call }, shown),
    ["message 2 (tool) has images, only the user's may"],
  );
});
