/** Messages of hostile agents to the editor's tools, and paths that no agent may read. */
import assert from "node:assert/strict";
import { editorPorts } from "../../../../../tests/support/foreign/editor_ports.ts";
import { scratch } from "../../../../../tests/support/project.ts";
import type { LspRequest, LspResponse } from "../../../protocol/lsp.ts";
import { isRecord } from "../../../shared/records.ts";
import { EDITOR_TOOLS, type EditorToolPorts } from "./editor_tools.ts";
import { answerLine } from "./tool_server.ts";
import { ToolSocket } from "./tool_socket.ts";

const PORTS = editorPorts(["/project"]);

async function answer(message: unknown, ports = PORTS): Promise<Record<string, unknown>> {
  const line = await answerLine(typeof message === "string" ? message : JSON.stringify(message), ports);
  const value: unknown = JSON.parse(line ?? "{}");
  assert.ok(isRecord(value));
  return value;
}

const request = (method: string, params?: unknown, id: unknown = 1) => ({
  jsonrpc: "2.0",
  id,
  method,
  params,
});

async function call(name: string, args: unknown, ports: EditorToolPorts) {
  const { result } = await answer(request("tools/call", { name, arguments: args }), ports);
  assert.ok(isRecord(result) && Array.isArray(result.content), JSON.stringify(result));
  return { text: String(result.content[0].text), isError: result.isError === true };
}

Deno.test("a client agrees on a version, pings, and lists tools that change nothing", async () => {
  for (const [wanted, version] of [["2025-03-26", "2025-03-26"], ["1999-01-01", "2025-06-18"]]) {
    const { result } = await answer(request("initialize", { protocolVersion: wanted }));
    assert.equal(isRecord(result) && result.protocolVersion, version);
  }
  assert.deepEqual(await answer(request("ping", undefined, "a")), { jsonrpc: "2.0", id: "a", result: {} });
  const { result } = await answer(request("tools/list"));
  assert.ok(isRecord(result) && Array.isArray(result.tools));
  assert.equal(result.tools.length, EDITOR_TOOLS.length);
  for (const tool of result.tools) {
    assert.equal(tool.annotations.readOnlyHint, true);
    assert.equal(tool.inputSchema.type, "object");
  }
});

Deno.test("messages that are none get an error or nothing", async () => {
  const codes: readonly (readonly [message: unknown, code: number | undefined])[] = [
    ["hello", -32700],
    ["[".repeat(10_000), -32700],
    ["[]", -32600],
    ["7", -32600],
    ["null", -32600],
    [{ jsonrpc: "1.0", id: 1, method: "ping" }, -32600],
    [request("ping", undefined, { a: 1 }), -32600],
    [request("ping", undefined, null), -32600],
    [request("ping", "no object"), -32600],
    [request("resources/read", { uri: "file:///etc/passwd" }), -32601],
    [request("__proto__"), -32601],
    [request("tools/call", {}), -32602],
    [request("tools/call", { name: "toString" }), -32602],
    [request("tools/call", { name: "rename" }), -32602],
    [{ jsonrpc: "2.0", method: "notifications/initialized" }, undefined],
    [{ jsonrpc: "2.0", method: "tools/call", params: { name: "plan" } }, undefined],
  ];
  for (const [message, code] of codes) {
    const { error, result } = await answer(message);
    assert.equal(isRecord(error) ? error.code : undefined, code, JSON.stringify(message)?.slice(0, 80));
    assert.equal(result, undefined);
  }
});

Deno.test("wrong arguments and unreadable paths are told, and Neovim is asked nothing", async () => {
  await using project = await scratch({ "a.ts": "a\n", ".env": "hush\n", "asks/b.ts": "b\n" });
  await Deno.symlink(project.path(".env"), project.path("link.ts"));
  await Deno.symlink("/etc/passwd", project.path("out.ts"));
  const asked: unknown[] = [];
  const ports = editorPorts([project.root], {
    languages: (request) => Promise.reject(new Error(`asked ${asked.push(request)}`)),
    unsavedText: (path) => Promise.resolve(`asked ${asked.push(path)}`),
  });
  for (const path of [".env", "link.ts", "out.ts", "asks/b.ts", "../x.ts", "/etc/passwd", "", 7, undefined]) {
    for (
      const name of ["document_symbols", "definition", "references", "type_of", "callers", "unsaved_text"]
    ) {
      const { isError } = await call(name, { path, symbol: "a" }, ports);
      assert.ok(isError, `${name} ${path}`);
    }
    if (path === undefined) continue;
    assert.ok((await call("diagnostics", { path }, ports)).isError, String(path));
    assert.ok((await call("find_symbols", { query: "a", path }, ports)).isError, String(path));
  }
  assert.match((await call("definition", { path: "a.ts" }, ports)).text, /Either symbol or line is needed/);
  assert.deepEqual(asked, []);
});

Deno.test("unreadable files are left out of every result", async () => {
  await using project = await scratch({ "a.ts": "one\ncall()\n", ".env": "hush\n", "asks/b.ts": "hush\n" });
  const paths = ["a.ts", ".env", "asks/b.ts"].map((name) => project.path(name));
  const location = (path: string) => ({ path, line: 2, end_line: 2 });
  const symbol = (path: string) => ({ name: path, kind: "function", depth: 0, location: location(path) });
  const at = { line: 2, text: "call" };
  const message = (path: string) => `about ${path}`;
  const answers: Partial<Record<LspRequest["op"], LspResponse>> = {
    workspace_symbols: { kind: "symbols", symbols: paths.map(symbol), total: 3 },
    diagnostics: {
      kind: "diagnostics",
      said: "late",
      files: paths.map((path) => ({
        path,
        total: 1,
        diagnostics: [{ severity: "error", line: 2, character: 1, message: message(path) }],
      })),
    },
    references: { kind: "locations", at, locations: paths.map(location), total: 3 },
    definition: { kind: "locations", at, locations: paths.map(location), total: 3 },
    hover: { kind: "text", at, text: "hush" },
    call_hierarchy: {
      kind: "hierarchy",
      at,
      of: paths.map(symbol),
      related: paths.map((path) => ({ relation: "incoming", symbol: symbol(path), calls: [2] })),
    },
  };
  const ports = editorPorts([project.root], {
    languages: ({ op }) => Promise.resolve(answers[op] ?? { kind: "nothing", reason: op }),
    view: () =>
      Promise.resolve({
        unsaved: [...paths, "/etc/passwd"].map((path) => ({ path, lines: 3 })),
        cursor: { path: project.path(".env"), line: 1, column: 1, text: "hush" },
        selection: { path: project.path("asks/b.ts"), first: 1, last: 1, text: "hush" },
      }),
  });
  const place = { path: "a.ts", line: 2 };
  const texts = await Promise.all([
    call("find_symbols", { query: "a" }, ports),
    call("diagnostics", {}, ports),
    call("references", place, ports),
    call("definition", place, ports),
    call("type_of", place, ports),
    call("callers", place, ports),
    call("unsaved_buffers", {}, ports),
    call("selection", {}, ports),
  ]);
  for (const { text } of texts) assert.doesNotMatch(text, /hush|\.env|asks|passwd/);
  assert.match(texts[0]?.text ?? "", /^a\.ts:2 function/);
  assert.match(texts[1]?.text ?? "", /^a\.ts:2:1 error about/);
  assert.equal(texts[2]?.text, "a.ts:2: call()");
  assert.match(texts[5]?.text ?? "", /^a\.ts:2 .*\nCalled by:\na\.ts:2 .*, calls on line 2$/);
  assert.equal(texts[6]?.text, "a.ts (3 lines)");
});

Deno.test("a long text comes in pages of 20 kB, and a withheld tool is neither listed nor run", async () => {
  await using project = await scratch({ "a.ts": "" });
  const lines = Array.from({ length: 900 }, (_, index) => `line ${index + 1} ${"é".repeat(30)}`);
  const ports = editorPorts([project.root], {
    unsavedText: () => Promise.resolve(["x".repeat(100_000), ...lines].join("\n")),
    refusal: (tool) => tool === "selection" ? "the rule deny mcp(neovim/selection) is against it" : undefined,
  });
  const found: string[] = [];
  for (let from: number | undefined = 1; from !== undefined;) {
    const { text } = await call("unsaved_text", { path: "a.ts", from }, ports);
    assert.ok(new TextEncoder().encode(text).length < 20_100);
    found.push(...text.split("\n").filter((line) => line.startsWith("line ")));
    const [, next] = /continue with "from": (\d+)\]$/.exec(text) ?? [];
    from = next === undefined ? undefined : Number(next);
  }
  assert.deepEqual(found, lines);
  assert.match((await call("unsaved_text", { path: "a.ts", from: 9_999 }, ports)).text, /only 901 lines/);
  assert.ok((await call("selection", {}, ports)).isError);
  assert.doesNotMatch(JSON.stringify(await answer(request("tools/list"), ports)), /"selection"/);
});

Deno.test({
  name: "the socket is the user's alone, bounds messages, calls and connections, and goes with its agent",
  ignore: Deno.build.os === "windows",
  async fn() {
    const held = Promise.withResolvers<undefined>();
    let running = 0;
    const ports = editorPorts(["/"], {
      unsavedText: () => {
        running += 1;
        return held.promise;
      },
      rules: () => ({ deny_read: [], read_rules: { deny: [], ask: [] } }),
    });
    const socket = await ToolSocket.open(ports);
    assert.equal(((await Deno.stat(socket.path)).mode ?? 0) & 0o777, 0o600);
    const connect = () => Deno.connect({ transport: "unix", path: socket.path });
    const write = async (to: Deno.Conn, text: string) => {
      const bytes = new TextEncoder().encode(text);
      for (let at = 0; at < bytes.length;) at += await to.write(bytes.subarray(at));
    };
    using flood = await connect();
    const line = `${
      JSON.stringify(request("tools/call", { name: "unsaved_text", arguments: { path: "etc" } }))
    }\n`;
    await write(flood, line.repeat(40));
    while (running < 4) await new Promise((resolve) => setTimeout(resolve, 10));
    await new Promise((resolve) => setTimeout(resolve, 100));
    assert.equal(running, 4);
    held.resolve(undefined);
    let text = "";
    const reader = new TextDecoder();
    const buffer = new Uint8Array(65_536);
    while (text.split("\n").length <= 40) {
      text += reader.decode(buffer.subarray(0, await flood.read(buffer) ?? 0));
    }

    using long = await connect();
    await write(long, "x".repeat(400_000)).catch(() => {});
    assert.equal(await long.read(buffer).catch(() => null), null);

    const others = await Promise.all(Array.from({ length: 12 }, connect));
    assert.equal(await others.at(-1)?.read(buffer).catch(() => null), null);
    for (const one of others) one.close();
    await socket[Symbol.asyncDispose]();
    await assert.rejects(Deno.stat(socket.path), Deno.errors.NotFound);
  },
});
