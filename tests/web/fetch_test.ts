/** Fetching from hostile servers: nothing connects to an address that was not judged, and nothing takes forever. */
import assert from "node:assert/strict";
import { gzipSync } from "node:zlib";
import { parseRule } from "../../denops/agent/policy/rules.ts";
import type { FetchedContent } from "../../denops/agent/protocol/results/web.ts";
import { fetchPage } from "../../denops/agent/supervisor/web/fetch_page.ts";
import { DEFAULT_TIMEOUT, scratch } from "../support/project.ts";

const ignore = Deno.build.os !== "linux";

interface WebOptions {
  readonly rules?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  /** The addresses of every name, for each time that it is looked up. */
  readonly addresses?: readonly (readonly string[])[];
  readonly patienceMs?: number;
  /** With bubblewrap, where there is one. Without it Deno's permissions confine the reading process, which is cheaper. */
  readonly isInSandbox?: boolean;
}

/** What a fetch of this address gives: the content, or the error. @returns also the names that were looked up */
async function fetched(url: string, options: WebOptions = {}) {
  await using state = await scratch();
  const { rules = [], environment = {}, addresses = [], patienceMs = DEFAULT_TIMEOUT, isInSandbox } = options;
  const path = Deno.env.get("PATH") ?? "";
  if (isInSandbox !== true) Deno.env.set("PATH", "/nowhere");
  const lookups: string[] = [];
  const place = {
    roots: [state.path("project")],
    stateDir: state.root,
    environment: { PATH: path, ...environment },
    patienceMs,
    modules: () => Promise.reject(new Error("no modules")),
    resolve(name: string) {
      lookups.push(name);
      const real = name === "localhost" ? ["127.0.0.1"] : [];
      return Promise.resolve(addresses[Math.min(lookups.length, addresses.length) - 1] ?? real);
    },
  };
  const parsed = rules.map((text) => parseRule(text, text.startsWith("-") ? "deny" : "allow", "user"));
  try {
    const content = await fetchPage(url, parsed, place, new AbortController().signal);
    return { content, error: "", lookups };
  } catch (error) {
    return { content: undefined, error: error instanceof Error ? error.message : String(error), lookups };
  } finally {
    Deno.env.set("PATH", path);
  }
}

/** A server of this machine, and the requests that reached it. */
function server(answer: (request: Request) => Response | Promise<Response>, more: object = {}) {
  const requests: string[] = [];
  const serving = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {}, ...more }, (request) => {
    requests.push(request.url);
    return answer(request);
  });
  const host = `localhost:${serving.addr.port}`;
  return { host, url: `http://${host}`, requests, [Symbol.asyncDispose]: () => serving.shutdown() };
}

const HTML = { "content-type": "text/html; charset=utf-8" };

Deno.test({
  name: "addresses that no rule opens are refused before anything connects",
  ignore,
  async fn() {
    await using own = server(() => new Response("secret"));
    const port = own.host.split(":")[1];
    for (
      const [url, error] of [
        [`http://127.0.0.1:${port}/`, /no public host/],
        [`http://${own.host}/`, /no public host/],
        [`http://[::1]:${port}/`, /no public host/],
        [`http://0x7f.1:${port}/`, /no public host/],
        [`http://2130706433:${port}/`, /no public host/],
        [`http://[::ffff:127.0.0.1]:${port}/`, /no public host/],
        ["http://169.254.169.254/latest/meta-data/", /no public host/],
        ["http://10.1.2.3/", /no public host/],
        ["http://wiki/", /no public host/],
        ["http://db.internal/", /no public host/],
        [`http://user:secret@${own.host}/`, /must not contain a login/],
        ["file:///etc/passwd", /only http and https/],
        ["data:text/html,x", /only http and https/],
        ["nonsense", /no valid address/],
      ] as const
    ) assert.match((await fetched(url)).error, error, url);
    const rebound = await fetched(`http://docs.example:${port}/`, { addresses: [["127.0.0.1"]] });
    assert.match(rebound.error, /^docs\.example:\d+: 127\.0\.0\.1 is an address of this machine/);
    const mixed = await fetched(`http://docs.example:${port}/`, {
      addresses: [["93.184.216.34", "10.0.0.1"]],
    });
    assert.match(mixed.error, /10\.0\.0\.1 is an address of a private network/);
    // The name gets another address after it was judged.
    const late = { addresses: [["203.0.113.1"], ["127.0.0.1"]], patienceMs: 3_000 };
    const switched = await fetched(`http://docs.example:${port}/`, late);
    assert.deepEqual([switched.content, switched.lookups], [undefined, ["docs.example"]]);
    assert.deepEqual(own.requests, []);
  },
});

Deno.test({
  name: "a rule that names a host of this machine opens exactly that one; the request tells nothing",
  ignore,
  async fn() {
    await using other = server(() => new Response("secret"));
    await using own = server(({ url, headers }) => {
      const { pathname } = new URL(url);
      if (pathname === "/other") return Response.redirect(`${other.url}/`, 302);
      if (pathname === "/self") {
        return new Response(null, { status: 301, headers: { location: "/page?x=1#y" } });
      }
      if (pathname === "/login") {
        return new Response(null, { status: 302, headers: { location: `//u:p@${new URL(url).host}/` } });
      }
      if (pathname === "/loop") {
        return Response.redirect(url, 307);
      }
      return new Response([...headers.keys()].sort().join(" "), {
        headers: { ...HTML, "set-cookie": "a=b" },
      });
    });
    const rules = [`fetch(${own.host})`];
    const { content } = await fetched(`${own.url}/self`, { rules, isInSandbox: true });
    assert.deepEqual([content?.url, content?.status, content?.kind], [`${own.url}/page?x=1`, 200, "text"]);
    assert.equal(content?.body, "accept accept-encoding accept-language connection host user-agent");
    const away = await fetched(`${own.url}/other`, { rules });
    assert.deepEqual([away.content?.elsewhere, away.content?.body], [`${other.url}/`, ""]);
    assert.match((await fetched(`${own.url}/login`, { rules })).error, /must not contain a login/);
    const before = own.requests.length;
    assert.match((await fetched(`${own.url}/loop`, { rules })).error, /redirects more than 5 times/);
    assert.equal(own.requests.length - before, 6);
    assert.match(
      (await fetched(`http://127.0.0.1:${own.host.split(":")[1]}/`, { rules })).error,
      /no public host/,
    );
    assert.deepEqual(other.requests, []);
  },
});

Deno.test({
  name: "endless, slow, packed and broken answers end",
  ignore,
  async fn() {
    const bomb = new Uint8Array(gzipSync(new Uint8Array(20_000_000).fill(97)));
    await using own = server(({ url }) => {
      const { pathname } = new URL(url);
      if (pathname === "/bomb") {
        return new Response(bomb, { headers: { ...HTML, "content-encoding": "gzip" } });
      }
      if (pathname === "/latin") {
        return new Response(new Uint8Array([0x67, 0xfc]), {
          headers: { "content-type": "text/html; charset=iso-8859-1" },
        });
      }
      if (pathname === "/pdf") {
        return new Response("%PDF-1.7 \0", { headers: { "content-type": "text/html" } });
      }
      const slow = new ReadableStream({
        async pull(controller) {
          await new Promise((resolve) => setTimeout(resolve, 50));
          try {
            controller.enqueue(new Uint8Array([97]));
          } catch {
            // The reader has gone.
          }
        },
      });
      return new Response(slow, { headers: HTML });
    });
    const rules = [`fetch(${own.host})`];
    const open = async (path: string): Promise<FetchedContent | undefined> =>
      (await fetched(`${own.url}${path}`, { rules })).content;
    const packed = await open("/bomb");
    assert.deepEqual([packed?.isCut, packed?.body.length], [true, 10_000_000]);
    assert.match(
      (await fetched(`${own.url}/slow`, { rules, patienceMs: 2_000 })).error,
      /took longer than 2 s/,
    );
    assert.equal((await open("/latin"))?.body, "gü");
    // It goes to a program of its own, see pdf_test.ts.
    assert.match((await fetched(`${own.url}/pdf`, { rules })).error, /no modules$/);
    await using raw = rawServer(`HTTP/1.1 200 OK\r\nX: ${"a".repeat(4_000_000)}\r\n\r\n`);
    assert.notEqual((await fetched(raw.url, { rules: [`fetch(${raw.host})`] })).error, "");
  },
});

/** Answers each connection with these bytes. */
function rawServer(answer: string) {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const serving = (async () => {
    for await (const connection of listener) {
      new Response(answer).body?.pipeTo(connection.writable).catch(() => {});
    }
  })();
  const host = `localhost:${listener.addr.port}`;
  return {
    host,
    url: `http://${host}/`,
    async [Symbol.asyncDispose]() {
      listener.close();
      await serving;
    },
  };
}

Deno.test({
  name: "a certificate must be valid for the name",
  ignore,
  async fn() {
    await using folder = await scratch({
      right: "subjectAltName=DNS:localhost\n",
      wrong: "subjectAltName=DNS:other.example\n",
    });
    const openssl = async (...args: string[]) => {
      const { success } = await new Deno.Command("openssl", {
        args,
        cwd: folder.root,
        stdout: "null",
        stderr: "null",
      }).output();
      assert.ok(success, args.join(" "));
    };
    const make = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-subj", "/CN=Test"];
    await openssl("req", "-x509", ...make, "-keyout", "ca.key", "-out", "ca.pem");
    for (const name of ["right", "wrong"]) {
      await openssl("req", ...make, "-keyout", `${name}.key`, "-out", "request.pem");
      const signed = ["-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-extfile", name];
      await openssl("x509", "-req", "-in", "request.pem", ...signed, "-out", `${name}.pem`);
    }
    const pair = async (name: string) => ({
      cert: await folder.read(`${name}.pem`),
      key: await folder.read(`${name}.key`),
    });
    await using right = server(() => new Response("hello"), await pair("right"));
    await using wrong = server(() => new Response("hello"), await pair("wrong"));
    const open = (host: string, environment: Record<string, string>) =>
      fetched(`https://${host}/`, { rules: [`fetch(${host})`], environment, isInSandbox: true });
    const trusts = { DENO_CERT: folder.path("ca.pem") };
    assert.equal((await open(right.host, trusts)).content?.body, "hello");
    assert.match((await open(wrong.host, trusts)).error, /certificate/i);
    assert.deepEqual(wrong.requests, []);
  },
});

Deno.test({
  name: "behind the user's proxy: names go through it, private ones do not, and the answer says so",
  ignore,
  async fn() {
    await using proxy = server(({ url }) => {
      if (url === "http://docs.example/") return Response.redirect("http://www.docs.example/x", 302);
      if (url === "http://docs.example/private") return Response.redirect("http://10.0.0.1/", 302);
      return new Response(`page ${url}`, { headers: { "content-type": "text/plain" } });
    });
    const environment = { HTTP_PROXY: proxy.url };
    const { content } = await fetched("http://docs.example/", { environment });
    assert.deepEqual([content?.body, content?.proxy], ["page http://www.docs.example/x", proxy.host]);
    const { content: away } = await fetched("http://docs.example/private", { environment });
    assert.equal(away?.elsewhere, "http://10.0.0.1/");
    const before = proxy.requests.length;
    for (const url of ["http://wiki.internal/", "http://10.0.0.1/", "http://printer/"]) {
      assert.match((await fetched(url, { environment })).error, /no public host/);
    }
    const rules = ["fetch(10.0.0.1)"];
    assert.equal(
      (await fetched("http://10.0.0.1/", { environment, rules })).content?.body,
      "page http://10.0.0.1/",
    );
    assert.equal(proxy.requests.length - before, 1);
  },
});
