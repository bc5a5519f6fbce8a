/**
 * Local servers as people run them: a file is read, changed and reported on, or there is one line that says what to do.
 * What they send stands in tests/servers, byte by byte.
 */
import assert from "node:assert/strict";
import { basename } from "node:path";
import { fileURLToPath } from "node:url";
import type { WireName } from "../../denops/agent/protocol/providers.ts";
import { engineConfig } from "../support/engine_config.ts";
import { checkEvents, END_TURN, startEngine } from "../support/engine_session.ts";
import { checkError } from "../support/model_client.ts";
import { readPlay, servePlay } from "../support/server_play.ts";

const FOLDER = fileURLToPath(new URL("../servers/", import.meta.url));

/** Folder → the provider as users name it, and its model. */
const SERVERS: Readonly<Record<string, readonly [name: string, wire: WireName, model: string]>> = {
  ollama: ["ollama", "ollama", "qwen3:8b"],
  llama_cpp: ["llama.cpp", "openai_chat", "qwen3-32b"],
  lm_studio: ["lmstudio", "openai_chat", "openai/gpt-oss-120b"],
  vllm: ["vllm", "openai_chat", "Qwen/Qwen3-32B"],
  text_generation_webui: ["webui", "openai_chat", "Qwen_Qwen3-32B-Q4_K_M.gguf"],
};

const BEFORE = 'export const greeting = "Hello";\n';
const AFTER = 'export const greeting = "Good day";\n';

function provider(folder: string, url: string) {
  const [name = folder, wire = "openai_chat", model = ""] = SERVERS[folder] ?? [];
  const config = engineConfig(url, wire, { title: false, model });
  const { api_key: _, ...rest } = config.provider;
  return { wire, config: { ...config, provider: { ...rest, name, key_source: "the option api_key" } } };
}

/** The turn with the server of this file, whose every word is checked. @param size bytes of each write */
async function play(folder: string, name: string, size?: number): Promise<void> {
  const file = `${FOLDER}${folder}/${name}`;
  const { end, notices, checks } = await readPlay(file);
  assert.ok(folder in SERVERS);
  await using server = await servePlay(file, size);
  await using engine = await startEngine({
    ...provider(folder, server.url),
    ...{ script: "", files: { "src/greet.ts": BEFORE } },
  });
  const ended = await engine.prompt("Make it more polite.");
  checkEvents(engine.events);
  if (end === "done") {
    assert.deepEqual(ended, END_TURN);
    assert.equal(await engine.project.read("src/greet.ts"), AFTER);
    const said = engine.events.flatMap((event) => event.type === "token" ? [event.text] : []).join("");
    assert.match(said, /It says Good day\.$/);
    assert.doesNotMatch(said, /tool_call|TOOL_REQUEST|<think>/);
  } else {
    const { base_url } = provider(folder, server.url).config.provider;
    const line = ended.type === "failed" ? ended.error.message : ended.reason;
    assert.equal(line.replace(base_url, "URL"), end);
    checkError(line);
  }
  const told = engine.events.flatMap((event) => event.type === "notice" ? [event.text] : []);
  assert.deepEqual(told, notices);
  for (const { request, matches, pattern } of checks) {
    const body = JSON.stringify(server.bodies[request - 1]);
    assert.equal(pattern.test(body), matches, `request ${request}: ${pattern} in ${body}`);
  }
}

function names(folder: string): readonly string[] {
  return [...Deno.readDirSync(folder)].map(({ name }) => name).filter((name) => name !== "model.txt")
    .toSorted();
}

for (const folder of names(FOLDER)) {
  for (const name of names(FOLDER + folder)) {
    Deno.test(`${folder}: ${basename(name, ".txt").replaceAll("_", " ")}`, () => play(folder, name));
  }
}

Deno.test("the same in writes of seven bytes, and in one", async () => {
  const jobs = [
    ...[["ollama", "tool_calls"], ["llama_cpp", "jinja"], ["lm_studio", "tool_requests_in_text"]],
    ...[["vllm", "auto_tool_choice"], ["text_generation_webui", "tool_calls"]],
  ];
  for (const [folder = "", name] of jobs) {
    for (const size of [7, 1_000_000]) await play(folder, `${name}.txt`, size);
  }
});

Deno.test("nobody there: how the server is started", async () => {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const url = `http://127.0.0.1:${listener.addr.port}`;
  listener.close();
  const starts = {
    ollama: "ollama serve",
    lm_studio: "lms server start",
    llama_cpp: "llama-server --jinja -m MODEL.gguf",
  };
  for (const [folder, start] of Object.entries(starts)) {
    await using engine = await startEngine({ ...provider(folder, url), script: "" });
    const ended = await engine.prompt("Make it more polite.");
    const { base_url } = provider(folder, url).config.provider;
    assert.equal(
      ended.type === "failed" ? ended.error.message : ended.reason,
      `Cannot reach ${base_url}: connection refused. Start it (${start}). Check base_url.`,
    );
  }
});
