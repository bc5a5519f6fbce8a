/** Searches by meaning, as the user and the model see them. */
import assert from "node:assert/strict";
import { waitForChat, waitForTurn } from "../support/chat.ts";
import { waitUntil } from "../support/project.ts";
import { sharedAgent } from "../support/shared_agent.ts";

const PROJECT = {
  "src/merge.ts":
    "/** Joins an unsaved buffer with the text that a tool writes. */\nexport function joinTexts() {}\n",
  "src/clock.ts": "/** Tells the time of day. */\nexport function timeOfDay() {}\n",
  "secret/buffers.ts": "/** Joins unsaved buffers with zanzibar. */\n",
  "built/buffers.ts": "/** Joins unsaved buffers with walrus. */\n",
  ".gitignore": "built/\n",
};

const QUESTION = "how are unsaved buffers combined with what a tool has written?";
const call = (args: object) => `call search ${JSON.stringify(args)}`;

Deno.test("the model asks in plain words, and gets the best lines of files that it may read", async () => {
  await using agent = await sharedAgent({
    script: "",
    project: PROJECT,
    hasOwnState: true,
    options: `sessions = { title = false }, rules = { deny = { "read(secret/**)" } }`,
    columns: 100,
  });
  const { nvim, server } = agent;
  const play = async (text: string, ...calls: readonly string[]) => {
    server.play([...calls, `say ${text}.`].join("\n---\n"));
    await nvim.command(`Agent ${text}`);
    await waitForChat(nvim, `${text}.`);
    await waitForTurn(nvim);
    return server.requests.slice(-calls.length).map((request) => request.text);
  };
  await nvim.command("Agent index delete");
  await nvim.waitForScreen("agent: the index is deleted");
  const [first = "", codebase = ""] = await play(
    "One",
    call({ query: QUESTION, kind: "meaning" }),
    `call codebase_search ${JSON.stringify({ query: "what time is it", target_directory: "src" })}`,
  );
  assert.equal(
    first,
    `The best places first, with their best lines:

── src/merge.ts:1-3 ──
→ 1: /** Joins an unsaved buffer with the text that a tool writes. */
→ 2: export function joinTexts() {}`,
  );
  assert.match(codebase, /^The best places.*── src\/clock\.ts:1-3 ──\n→ 1: \/\*\* Tells the time of day\./s);
  await nvim.waitForScreen("search by meaning: how are unsaved buffers combined");
  await nvim.waitForScreen("1 place in 1 file");

  const [, written = "", within = "", nothing = ""] = await play(
    "Two",
    `call write ${JSON.stringify({ path: "src/flock.ts", content: "// Counts the sheep of a flock.\n" })}`,
    call({ query: "count sheep", kind: "meaning", glob: "*.ts" }),
    call({ query: "count sheep", kind: "meaning", path: "secret" }),
    call({ query: "zanzibar walrus", kind: "meaning" }),
  );
  assert.match(written, /── src\/flock\.ts:1-2 ──/);
  assert.match(within, /denied by rule|Nothing was found/);
  assert.match(nothing, /^Nothing was found/);

  await nvim.command("Agent index");
  await nvim.waitForScreen(/agent: index: 4 files · 4 chunks · 0\.\d MB · updated/);
  await nvim.command("Agent index rebuild");
  await nvim.waitForScreen(/agent: index: 4 files · 4 chunks/);
  await nvim.command("Agent index tomorrow");
  await nvim.waitForScreen("rebuild");
});

Deno.test("embeddings come from the user's server; its key is sent nowhere else", async () => {
  const requests: { readonly url: string; readonly key: string | null; readonly input: readonly string[] }[] =
    [];
  await using embeddings = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen: () => {} },
    async (request) => {
      const { input } = await request.json();
      requests.push({ url: new URL(request.url).pathname, key: request.headers.get("authorization"), input });
      const data = input.map((text: string, index: number) => ({
        index,
        embedding: [/buffer|scrollback/i.test(text) ? 1 : 0, /time|hour/i.test(text) ? 1 : 0],
      }));
      return Response.json({ data });
    },
  );
  const url = `http://127.0.0.1:${embeddings.addr.port}/v1`;
  await using agent = await sharedAgent({
    script: "",
    project: PROJECT,
    hasOwnState: true,
    options: `sessions = { title = false }, rules = { deny = { "read(secret/**)" } },
      search = { embeddings = { provider = "vectors", model = "small" } }`,
    lua: `local options = vim.g.agent
      options.providers.vectors = { wire = "openai_chat", base_url = "${url}", api_key = "env:VECTORS_KEY" }
      vim.g.agent = options`,
    env: { VECTORS_KEY: "key-of-vectors" },
    columns: 120,
  });
  const { nvim, server } = agent;
  await nvim.command("Agent index");
  await waitUntil("the vectors", async () => {
    await nvim.command("Agent index");
    return nvim.text().includes("3 vectors of vectors/small");
  });
  const texts = requests.flatMap(({ input }) => input).sort();
  assert.deepEqual(texts.map((text) => text.split("\n")[0]), [".gitignore", "src/clock.ts", "src/merge.ts"]);
  server.play(`${call({ query: "scrollback", kind: "meaning" })}\n---\nsay Seen.`);
  await nvim.command("Agent Look");
  await waitForChat(nvim, "Seen.");
  await waitForTurn(nvim);
  assert.match(server.requests.at(-1)?.text ?? "", /^The best places first.*:\n\n── src\/merge\.ts:1-3 ──/);
  assert.deepEqual(
    new Set(requests.map(({ url, key }) => `${url} ${key}`)),
    new Set(["/v1/embeddings Bearer key-of-vectors"]),
  );
  assert.ok(!server.requests.some(({ body }) => JSON.stringify(body).includes("key-of-vectors")));
});
