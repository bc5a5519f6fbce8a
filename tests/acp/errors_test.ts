/** Input of a client that is wrong, and the end of its connection. */
import assert from "node:assert/strict";
import { methods } from "../../denops/agent/deps/acp_sdk.ts";
import { waitUntil } from "../support/project.ts";
import { startAcp } from "./client.ts";
import { test } from "./shared_acp.ts";

const { session } = methods.agent;

test("what a client sends wrong gets one clear error, and nothing else breaks", async (acp) => {
  const refused = (place: { cwd: string }, message: RegExp) =>
    assert.rejects(acp.agent.request(session.new, { ...place, mcpServers: [] }), { code: -32602, message });
  await refused({ cwd: "src" }, /^Cannot work in src: the path is not absolute\.$/);
  await refused(
    { cwd: "/nowhere/at/all" },
    /^Cannot work in \/nowhere\/at\/all: the folder does not exist\.$/,
  );
  await refused({ cwd: acp.project.path("src/a.ts") }, /it is not a folder\.$/);
  const cwd = acp.project.root;
  const unknown = { sessionId: "00000000-0000-0000-0000-000000000000", cwd, mcpServers: [] };
  await assert.rejects(acp.agent.request(session.load, unknown), { code: -32002 });
  await assert.rejects(acp.prompt("nobody", "Hello"), {
    code: -32002,
    message: /Cannot find the session nobody/,
  });
  acp.play({ script: "say Still here." });
  const sessionId = await acp.opened();
  const send = (block: object, message: RegExp) =>
    assert.rejects(acp.agent.request(session.prompt, { sessionId, prompt: [block as never] }), {
      code: -32602,
      message,
    });
  await send({ type: "image", mimeType: "image/tiff", data: "AAAA" }, /its type is image\/tiff\. Use PNG/);
  await send({ type: "image", mimeType: "image/png", data: "?" }, /its data is not base64/);
  await send(
    { type: "text", text: "x".repeat(5_000_000) },
    /it has 5,000,000 characters\. Send at most 4,000,000\.$/,
  );
  await send({ type: "audio", mimeType: "audio/wav", data: "AAAA" }, /^Cannot send audio/);
  await send({ type: "text", text: " " }, /it is empty/);
  await send({ type: "resource", resource: { uri: "file:///a.bin", blob: "AAAA" } }, /it is not text/);
  await send({ type: "resource", resource: { uri: "x:y", text: "x".repeat(1_000_001) } }, /or send a link/);
  await acp.write("{ not json\n[]\n42\n");
  const errors = [-32700, -32600];
  await waitUntil("answers to lines that are no messages", () => {
    const codes = acp.messages.flatMap((one) => "error" in one && one.id === null ? [one.error.code] : []);
    return errors.every((code) => codes.includes(code));
  });
  assert.equal(await acp.prompt(sessionId, "Hello"), "end_turn");
});

test("a client's MCP servers are named as unserved", async (acp) => {
  const mcpServers = [{ name: "tick\u001bets", command: "/bin/true", args: [], env: [] }];
  await acp.agent.request(session.new, { cwd: acp.project.root, mcpServers });
  await waitUntil(
    "the warning",
    () =>
      acp.seen.some(({ update }) =>
        update.sessionUpdate === "notice" &&
        update.title ===
          "Cannot use MCP servers of this client (tick␛ets). Name them in the option mcp.servers."
      ),
  );
});

Deno.test("without a configuration the error has the lines to write", async () => {
  await using acp = await startAcp({ config: null });
  const message = /config\.json does not exist\. .*\n\{\n {2}"provider": "anthropic"\n\}$/;
  await assert.rejects(acp.open(), { message });
  assert.deepEqual(acp.problems, []);
});
