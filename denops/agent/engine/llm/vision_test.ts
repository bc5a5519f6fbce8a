import assert from "node:assert/strict";
import { assistant, call, PNG_IMAGE, result, user } from "../../../../tests/support/histories.ts";
import { hasImages, seesByName, withoutImages } from "./vision.ts";

const SEES =
  `gpt-4o gpt-4o-mini gpt-4.1 gpt-4.1-nano gpt-4-turbo gpt-5 gpt-5-mini gpt-5.1 openai/gpt-5 chatgpt-4o-latest
  o1 o3 o3-pro o4-mini openai/o3 claude-sonnet-4-5 anthropic/claude-3.5-haiku claude-opus-4-1 gemini-2.5-pro
  models/gemini-2.0-flash google/gemini-2.5-flash-lite gemma3:12b google/gemma-3-27b-it:free gemma-4-26B-A4B-it llava:7b
  llava-llama3 bakllava qwen2.5vl:7b qwen/qwen3-vl-8b-instruct Qwen2.5-VL-72B-Instruct qwen3-vl kimi-vl-a3b deepseek-vl2
  llama3.2-vision:11b meta-llama/llama-4-scout pixtral-12b-2409 mistral-medium-latest mistral-large-latest grok-4
  grok-2-vision-1212 glm-4.5v moondream minicpm-v:8b internvl3-8b phi-4-multimodal-instruct`.split(/\s+/);

const BLIND =
  `gpt-3.5-turbo gpt-4 gpt-oss-20b gpt-oss:120b o1-mini o1-preview o3-mini openai/o3-mini claude-2.1
  claude-instant-1 gemma2:9b gemma3:1b gemma-3-270m-it codegemma llama3.3:70b llama-3.1-8b-instant qwen3-coder qwen2.5:7b
  deepseek-chat deepseek-reasoner mistral-7b codestral-latest devstral-small devstral-latest grok-3 grok-code-fast-1
  glm-4.6 kimi-k2 phi-4 gpt-4o-audio-preview gpt-4o-transcribe model-1 scripted vllm revision-7b local`.split(
    /\s+/,
  );

Deno.test("models that see, by their names", () => {
  assert.deepEqual(SEES.filter((name) => !seesByName(name)), []);
  assert.deepEqual(BLIND.filter((name) => seesByName(name)), []);
});

Deno.test("a history without its images keeps everything else, and says what is missing", () => {
  const shown = { ...result("c1", "read_file", "An image."), images: [PNG_IMAGE] };
  const rest = [user("Look"), assistant("", [call("c1", "read_file", "{}")])];
  assert.ok(hasImages([...rest, shown]) && !hasImages(rest));
  assert.deepEqual(withoutImages([...rest, shown]), [
    ...rest,
    result("c1", "read_file", "An image.\n[left out, since this model cannot see images: a.png]"),
  ]);
});
