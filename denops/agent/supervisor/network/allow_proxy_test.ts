import assert from "node:assert/strict";
import { removeRunFolder } from "../system/run_folder.ts";
import { AllowProxy } from "./allow_proxy.ts";

/** A server that answers each connection, and what it got. */
interface RawServer extends AsyncDisposable {
  readonly port: number;
  readonly texts: string[];
}

/** @param answer after the text that matches `until`, or nothing more */
function rawServer(answer: (text: string) => string | undefined): RawServer {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const texts: string[] = [];
  const serving = (async () => {
    for await (const connection of listener) {
      const index = texts.push("") - 1;
      const buffer = new Uint8Array(65_536);
      try {
        let isAnswered = false;
        for (
          let count = await connection.read(buffer);
          count !== null;
          count = await connection.read(buffer)
        ) {
          texts[index] += new TextDecoder().decode(buffer.subarray(0, count));
          const text = isAnswered ? undefined : answer(texts[index] ?? "");
          if (text === undefined) continue;
          isAnswered = true;
          await connection.write(new TextEncoder().encode(text));
          if (/^connection: close$/im.test(texts[index] ?? "")) break;
        }
      } catch {
        // The other side is gone.
      }
      connection.close();
    }
  })();
  return {
    port: listener.addr.port,
    texts,
    async [Symbol.asyncDispose]() {
      listener.close();
      await serving;
    },
  };
}

const OK = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nhi";

async function readAll(connection: Deno.Conn): Promise<string> {
  const buffer = new Uint8Array(65_536);
  let text = "";
  try {
    for (let count = await connection.read(buffer); count !== null; count = await connection.read(buffer)) {
      text += new TextDecoder().decode(buffer.subarray(0, count));
    }
  } catch {
    // The proxy closes with unread bytes.
  }
  return text;
}

type AllowProxyOptions = Parameters<typeof AllowProxy.open>[0];

interface TestProxy extends AsyncDisposable {
  readonly proxy: AllowProxy;
  readonly refusals: string[];
  /** All that a raw client gets; it sends these pieces, and then ends its direction. */
  say(...pieces: readonly string[]): Promise<string>;
}

async function openProxy(
  hosts: readonly string[],
  options: Partial<AllowProxyOptions> = {},
): Promise<TestProxy> {
  const refusals: string[] = [];
  const proxy = await AllowProxy.open({
    hosts: () => hosts,
    environment: {},
    onRefused: (host) => refusals.push(host),
    ...options,
  });
  return {
    proxy,
    refusals,
    async say(...pieces) {
      using connection = await Deno.connect({ transport: "unix", path: proxy.socket });
      const reading = readAll(connection);
      try {
        for (const piece of pieces) await connection.write(new TextEncoder().encode(piece));
        await connection.closeWrite();
      } catch {
        // It is closed already.
      }
      return await reading;
    },
    async [Symbol.asyncDispose]() {
      await proxy[Symbol.asyncDispose]();
      await removeRunFolder();
    },
  };
}

const TEST = { sanitizeOps: false, sanitizeResources: false };

Deno.test("plain requests and tunnels reach an allowed host, and others get one line", TEST, async () => {
  await using server = rawServer((text) => text.includes("\r\n\r\n") ? OK : undefined);
  const host = `localhost:${server.port}`;
  await using setup = await openProxy([host]);
  const { say, proxy, refusals } = setup;
  assert.match(
    await say(`GET http://${host}/x HTTP/1.1\r\nHost: evil.test\r\n\r\n`),
    /^HTTP\/1\.1 200 OK[^]*hi$/,
  );
  assert.equal(server.texts[0], `GET /x HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
  const tunnel = await say(`CONNECT ${host} HTTP/1.1\r\n`, `\r\nGET /y HTTP/1.1\r\n`, `Host: a\r\n\r\n`);
  assert.match(tunnel, /^HTTP\/1\.1 200 Connection established\r\n\r\nHTTP\/1\.1 200 OK[^]*hi$/);
  assert.equal(server.texts[1], "GET /y HTTP/1.1\r\nHost: a\r\n\r\n");
  for (const first of ["GET http://evil.test/", "CONNECT evil.test:80", "GET http://evil.test:80"]) {
    const answer = await say(`${first} HTTP/1.1\r\nHost: ${host}\r\n\r\n`, "body");
    assert.match(
      answer,
      /^HTTP\/1\.1 403 Forbidden\r\n[^]*\r\n\r\nRefused: evil\.test:80 is not an allowed host\.\n$/,
    );
  }
  assert.deepEqual(proxy.refused, ["evil.test:80"]);
  assert.deepEqual(refusals, ["evil.test:80"]);
  assert.equal(server.texts.length, 2);
});

Deno.test("a name is resolved once, and connected to at the judged address", TEST, async () => {
  await using server = rawServer((text) => text.includes("\r\n\r\n") ? OK : undefined);
  const names: string[] = [];
  const addresses: Record<string, readonly string[]> = {
    "localhost": ["169.254.169.254", "127.0.0.1"],
    "inside.test": ["127.0.0.1"],
    "cloud.test": ["169.254.169.254", "::ffff:127.0.0.1"],
    "private.test": ["10.1.2.3"],
  };
  const hosts = [
    `localhost:${server.port}`,
    `inside.test:${server.port}`,
    "cloud.test",
    "*.test",
    "nowhere.test",
  ];
  await using setup = await openProxy(hosts, {
    resolve(name) {
      names.push(name);
      return Promise.resolve(addresses[name] ?? []);
    },
  });
  const { say, proxy } = setup;
  const get = (host: string) => say(`GET http://${host}/ HTTP/1.1\r\n\r\n`);
  assert.match(await get(`localhost:${server.port}`), /200 OK/);
  assert.deepEqual(names, ["localhost"]);
  assert.match(await get(`inside.test:${server.port}`), /403[^]*127\.0\.0\.1 is an address of this machine/);
  assert.match(await get("cloud.test"), /403[^]*169\.254\.169\.254 is an address of this machine/);
  assert.match(await get("private.test"), /403[^]*10\.1\.2\.3 is an address of a private network/);
  assert.match(await get("nowhere.test"), /502[^]*nowhere\.test has no address/);
  assert.deepEqual(proxy.refused, [`inside.test:${server.port}`, "cloud.test:80", "private.test:80"]);
  assert.equal(server.texts.length, 1);
});

Deno.test("only one request is passed on in a connection, with exactly its body", TEST, async () => {
  await using server = rawServer((text) =>
    /\r\n\r\n(hello|5\r\nhello\r\n0\r\n\r\n)$/.test(text) ? OK : undefined
  );
  const host = `127.0.0.1:${server.port}`;
  await using setup = await openProxy([host]);
  const more = "GET http://evil.test/ HTTP/1.1\r\n\r\n";
  const post = (header: string) => `POST http://${host}/ HTTP/1.1\r\n${header}\r\n\r\n`;
  assert.match(await setup.say(post("Content-Length: 5"), "he", "llo"), /200 OK/);
  assert.match(
    await setup.say(post("Transfer-Encoding: chunked"), "5\r\nhel", "lo\r\n0\r\n", "\r\n"),
    /200 OK/,
  );
  for (
    const text of [
      post("Content-Length: 5") + "hello" + more,
      post("Transfer-Encoding: chunked") + `0\r\n\r\n${more}`,
    ]
  ) {
    await setup.say(text);
  }
  assert.match(
    await setup.say(post("Content-Length: 5\r\nContent-Length: 50"), "hello", more),
    /^HTTP\/1\.1 400 /,
  );
  assert.match(await setup.say(post("Content-Length: 5\r\nTransfer-Encoding: chunked")), /^HTTP\/1\.1 400 /);
  assert.equal(server.texts.length, 4);
  for (const text of server.texts) assert.doesNotMatch(text, /evil/);
});

Deno.test("a host is reached through the user's own proxy, which resolves its name", TEST, async () => {
  await using upstream = rawServer((text) => {
    if (/^CONNECT no/.test(text)) return "HTTP/1.1 407 Proxy Authentication Required\r\n\r\n";
    if (text.endsWith("CONNECT")) return undefined;
    return text.startsWith("CONNECT") ? "HTTP/1.1 200 OK\r\n\r\nearly" : OK;
  });
  await using near = rawServer((text) => text.includes("\r\n\r\n") ? OK : undefined);
  const proxy = `http://us%65r:secret@127.0.0.1:${upstream.port}`;
  const hosts = [
    "far.test",
    "no.test",
    `near.test:${near.port}`,
    `localhost:${near.port}`,
    "!bad.far.test",
    "*.far.test",
  ];
  await using setup = await openProxy(hosts, {
    environment: { http_proxy: proxy, HTTPS_PROXY: proxy, NO_PROXY: "near.test" },
    resolve(name) {
      assert.ok(["localhost", "near.test"].includes(name), name);
      return Promise.resolve(["127.0.0.1"]);
    },
  });
  const { say } = setup;
  const login = `Proxy-Authorization: Basic ${btoa("user:secret")}\r\n`;
  assert.match(await say("GET http://far.test/x HTTP/1.1\r\nProxy-Authorization: own\r\n\r\n"), /200 OK/);
  assert.equal(
    upstream.texts[0],
    `GET http://far.test/x HTTP/1.1\r\nHost: far.test\r\n${login}Connection: close\r\n\r\n`,
  );
  assert.equal(
    await say("CONNECT far.test:443 HTTP/1.1\r\n\r\n", "hello"),
    "HTTP/1.1 200 Connection established\r\n\r\nearly",
  );
  assert.equal(upstream.texts[1], `CONNECT far.test:443 HTTP/1.1\r\nHost: far.test:443\r\n${login}\r\nhello`);
  assert.match(
    await say("CONNECT no.test:443 HTTP/1.1\r\n\r\n"),
    /^HTTP\/1\.1 502 [^]*refuses no\.test:443: 407 Proxy/,
  );
  // Neither is a request for the proxy.
  assert.match(await say(`GET http://localhost:${near.port}/ HTTP/1.1\r\n\r\n`), /200 OK/);
  assert.match(await say(`GET http://near.test:${near.port}/ HTTP/1.1\r\n\r\n`), /403[^]*this machine/);
  assert.match(await say("CONNECT bad.far.test:443 HTTP/1.1\r\n\r\n"), /403/);
  assert.equal(upstream.texts.length, 3);
  assert.equal(near.texts.length, 1);
});

Deno.test("a proxy of another kind is named, not passed by", TEST, async () => {
  await using setup = await openProxy(["far.test"], { environment: { ALL_PROXY: "socks5://127.0.0.1:1" } });
  assert.match(
    await setup.say("CONNECT far.test:443 HTTP/1.1\r\n\r\n"),
    /^HTTP\/1\.1 502 [^]*cannot be used: socks5:/,
  );
});

Deno.test(
  "endless heads and too many connections are closed, and what is refused stays few",
  TEST,
  async () => {
    await using setup = await openProxy([]);
    const { proxy, say } = setup;
    assert.equal(
      await say("GET http://a.test/ HTTP/1.1\r\n", ...Array(40).fill("a: " + "b".repeat(4_000) + "\r\n")),
      "",
    );
    assert.match(await say("nonsense\r\n\r\n"), /^HTTP\/1\.1 400 Bad Request/);
    assert.equal(await say("GET http://a.test/ HT"), "");
    for (let index = 0; index < 60; index++) await say(`CONNECT h${index}.test:443 HTTP/1.1\r\n\r\n`);
    assert.equal(proxy.refused.length, 50);
    const idle: Deno.UnixConn[] = [];
    for (let index = 0; index < 256; index++) {
      idle.push(await Deno.connect({ transport: "unix", path: proxy.socket }));
    }
    using last = await Deno.connect({ transport: "unix", path: proxy.socket });
    assert.equal(await last.read(new Uint8Array(1)).catch(() => null), null);
    idle.forEach((connection) => connection.close());
  },
);
