/** Commands that reach some hosts and no others: real bubblewrap, real servers on this machine. */
import assert from "node:assert/strict";
import { sharedAgent } from "../support/shared_agent.ts";
import { commandRunner } from "../support/command_sandbox.ts";
import { scratch } from "../support/project.ts";

interface TestServer extends AsyncDisposable {
  readonly port: number;
  /** "POST http://localhost:80/a text" */
  readonly requests: string[];
}

function serve(text: string): TestServer {
  const requests: string[] = [];
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, async (request) => {
    requests.push(`${request.method} ${request.url} ${await request.text()}`.trim());
    return new Response(text);
  });
  return { port: server.addr.port, requests, [Symbol.asyncDispose]: () => server.shutdown() };
}

const fetch = (rest: string) => `curl -sS -m 60 -w ' %{http_code}\\n' ${rest} 2>&1`;

Deno.test("a command reaches its hosts, by HTTP and through a tunnel, and nothing else", async () => {
  await using project = await scratch({ "a.txt": "body" });
  await using state = await scratch();
  await using open = serve("hello");
  await using closed = serve("secret");
  const { run, sandbox } = commandRunner([project.root], state.root);
  assert.equal(await sandbox.hold(), "bubblewrap");
  const line = [
    fetch(`http://localhost:${open.port}/a`),
    fetch(`-p http://localhost:${open.port}/b`),
    fetch(`-d @a.txt http://localhost:${open.port}/c`),
    fetch(`http://localhost:${closed.port}/`),
    fetch(`--noproxy "" http://127.0.0.1:${open.port}/`),
    `exec 8<>/dev/tcp/127.0.0.1/${open.port}; printf 'GET /d HTTP/1.0\\r\\nHost: localhost:${open.port}\\r\\n\\r\\n' >&8; tail -1 <&8; echo`,
    `(exec 8<>/dev/tcp/127.0.0.1/${closed.port}) 2>/dev/null && echo open`,
    "(exec 8<>/dev/tcp/1.1.1.1/443) 2>/dev/null && echo open",
    `curl -sS --noproxy "*" http://1.1.1.1/ 2>&1`,
    "test -w /run/agent-deno && echo writable",
    "exit 7",
  ].join("; ");
  const { output, refused, end } = await run("try", line, { hosts: [`localhost:${open.port}`] });
  assert.deepEqual(
    output.trim().split("\n").map((text) =>
      text.replace(/(?<=1\.1\.1\.1|to localhost port ).*|\d{5,}/, "…").trim()
    ),
    [
      "hello 200",
      "hello 200",
      "hello 200",
      "curl: (7) Failed to connect to localhost port …",
      "000",
      "Refused: 127.0.0.1:… is not an allowed host.",
      "403",
      "hello",
      "curl: (7) Failed to connect to 1.1.1.1…",
    ],
  );
  assert.deepEqual(end, { type: "exited", code: 7 });
  assert.deepEqual(refused, [`127.0.0.1:${open.port}`]);
  const at = (path: string) => `http://localhost:${open.port}/${path}`;
  assert.deepEqual(open.requests, [
    `GET ${at("a")}`,
    `GET ${at("b")}`,
    `POST ${at("c")} body`,
    `GET ${at("d")}`,
  ]);
  assert.deepEqual(closed.requests, []);
});

/** A server that answers the first piece with a byte, and counts the bytes of its first client that sends any. */
function counting(hostname: string) {
  const listener = Deno.listen({ hostname, port: 0 });
  const first = Promise.withResolvers<number>();
  const count = async (client: Deno.Conn) => {
    const buffer = new Uint8Array(65_536);
    let length = 0;
    for (let read = await client.read(buffer); read !== null; read = await client.read(buffer)) {
      if (length === 0) await client.write(new Uint8Array(1));
      length += read;
    }
    if (length > 0) first.resolve(length);
    client.close();
  };
  (async () => {
    for await (const client of listener) count(client).catch(first.reject);
  })().catch(() => {});
  return { port: listener.addr.port, first: first.promise, [Symbol.dispose]: () => listener.close() };
}

Deno.test("servers of this machine get all bytes and hear of lost clients, and clients that vanish close no port", async () => {
  using lost = counting("127.0.0.1");
  using six = counting("::1");
  // A shell could take [::1] for a pattern of file names.
  await using project = await scratch({ [`1:${six.port}`]: "" });
  await using state = await scratch();
  const { run } = commandRunner([project.root], state.root);
  const line = `python3 -c '
import os, socket, struct, time
def reset(client):
    client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    client.close()
client = socket.create_connection(("localhost", ${lost.port}))
client.sendall(b"a")
client.recv(1)
reset(client)
for _ in range(20):
    reset(socket.create_connection(("::1", ${six.port})))
    reset(socket.create_connection(("127.0.0.1", 3128)))
whole = socket.create_connection(("::1", ${six.port}))
whole.sendall(b"a" * 3_000_000)
whole.shutdown(socket.SHUT_WR)
proxy = socket.create_connection(("127.0.0.1", 3128))
proxy.sendall(b"GET http://a.test/ HTTP/1.0\\r\\n\\r\\n")
print(proxy.recv(12).decode())
while not os.path.exists("heard"): time.sleep(0.1)'`;
  const hosts = [`localhost:${lost.port}`, `[::1]:${six.port}`];
  const running = run("try", line, { hosts, timeoutMs: 60_000 });
  const lengths = await Promise.race([Promise.all([lost.first, six.first]), running]);
  assert.deepEqual(lengths, [1, 3_000_000]);
  await Deno.writeTextFile(project.path("heard"), "");
  assert.equal((await running).output.trim(), "HTTP/1.1 403");
});

Deno.test("a command goes through the user's own proxy, which resolves the names", async () => {
  await using project = await scratch();
  await using state = await scratch();
  await using proxy = serve("far");
  const variables = { HTTP_PROXY: `http://127.0.0.1:${proxy.port}`, NO_PROXY: "" };
  const { run } = commandRunner([project.root], state.root, [], { variables });
  const line = `${fetch("http://far.test/x")}; ${fetch("http://evil.test/")}`;
  const { output, refused } = await run("try", line, { hosts: ["far.test"] });
  assert.equal(output.trim(), "far 200\nRefused: evil.test:80 is not an allowed host.\n 403");
  assert.deepEqual(proxy.requests, ["GET http://far.test/x"]);
  assert.deepEqual(refused, ["evil.test:80"]);
});

Deno.test("rules open hosts to a command unasked; model and user see the refused ones, and the user adds one", async () => {
  await using server = serve("hello");
  const call = (url: string) =>
    `call run ${JSON.stringify({ command: `${fetch(url)}; touch new`, access: "write+network" })}`;
  const script = `
${call(`http://localhost:${server.port}/ http://evil.test/`)}
---
expect hello 200
expect Refused: evil.test:80 is not an allowed host.
expect [Refused hosts: evil.test:80. Allow one with the rule host(evil.test).]
call run ${
    JSON.stringify({ command: "getent hosts evil.test || echo ENOTFOUND; exit 1", access: "try+network" })
  }
---
expect rules open these hosts only, to programs that use the proxy of HTTP_PROXY: localhost:${server.port}
say Done.`;
  await using agent = await sharedAgent({ script, project: { "a.txt": "a" } });
  const { nvim, project } = agent;
  await nvim.lua(`require("agent").setup({ rules = { allow = { "host(localhost:${server.port})" } } })`);
  await nvim.command("Agent go");
  // The first question is about its changes.
  await nvim.waitForScreen("✓ A new");
  await nvim.command("Agent approve");
  await nvim.waitForScreen("Done.");
  assert.deepEqual(agent.server.problems, []);
  assert.deepEqual(server.requests, [`GET http://localhost:${server.port}/`]);
  assert.ok((await Deno.lstat(project.path("new"))).isFile);
  await nvim.command("Agent rules");
  await nvim.waitForScreen(
    /allow host\(localhost:\d+\) {2}\(user\)[^]*add {3}host\(evil\.test\) {2}\(a command was refused\)/,
  );
  await nvim.keys("2<CR>");
  await nvim.waitForScreen("Always allowed in this project: host(evil.test)");
  await nvim.command("Agent rules");
  await nvim.waitForScreen(/allow host\(evil\.test\) {2}\(project\)/);
  await nvim.keys("q<CR>");
});
