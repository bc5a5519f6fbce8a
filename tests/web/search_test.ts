/** The search engines' formats, and what their answers can do: a wrong or hostile one ends in one line. */
import assert from "node:assert/strict";
import { WebSearch } from "../../denops/agent/protocol/options/shapes.ts";
import { ENGINES } from "../../denops/agent/supervisor/web/search_engines.ts";
import { searchWeb } from "../../denops/agent/supervisor/web/search_web.ts";
import { scratch } from "../support/project.ts";

const ignore = Deno.build.os !== "linux";

type Engine = WebSearch["engine"];

const PAGE = { url: "https://deno.com/", title: "Deno" };
const REST = { url: "https://docs.deno.com/", title: "Docs" };

/** The request that an engine gets, and its answer in its own format. */
const PLAYS: Readonly<Record<Engine, { readonly request: unknown; readonly answer: unknown }>> = {
  searxng: {
    request: ["GET", "/searx/search", { q: "deno & node", format: "json" }, {}, undefined],
    answer: {
      query: "deno",
      results: [{ ...PAGE, content: "A <b>runtime</b> & more.", publishedDate: null, engine: "x" }, REST],
    },
  },
  brave: {
    request: [
      "GET",
      "/api",
      { q: "deno & node", count: "2", text_decorations: "false" },
      { "x-subscription-token": "KEY" },
      undefined,
    ],
    answer: {
      type: "search",
      web: {
        results: [
          { ...PAGE, description: "A <strong>runtime</strong> &amp; more.", page_age: "2026-01-02T03:04:05" },
          REST,
        ],
      },
    },
  },
  tavily: {
    request: ["POST", "/api", {}, { authorization: "Bearer KEY" }, { query: "deno & node", max_results: 2 }],
    answer: { results: [{ ...PAGE, content: "A runtime.", score: 0.9 }, REST] },
  },
  exa: {
    request: ["POST", "/api", {}, { "x-api-key": "KEY" }, {
      query: "deno & node",
      type: "auto",
      numResults: 2,
      contents: { highlights: { maxCharacters: 500 } },
    }],
    answer: {
      requestId: "x",
      results: [{ ...PAGE, highlights: ["One.", "Two."], publishedDate: "2026" }, REST],
    },
  },
  kagi: {
    request: ["POST", "/api", {}, { authorization: "Bearer KEY" }, {
      query: "deno & node",
      workflow: "search",
      limit: 2,
    }],
    answer: { meta: {}, data: { search: [{ ...PAGE, snippet: "It&#39;s a runtime.", time: "2026" }, REST] } },
  },
};

const SNIPPETS: Readonly<Record<Engine, string>> = {
  searxng: "A <b>runtime</b> & more.",
  brave: "A runtime & more.",
  tavily: "A runtime.",
  exa: "One. … Two.",
  kagi: "It's a runtime.",
};

/** A search engine of this machine, and the requests that reached it. */
function engineServer(answer: (request: Request) => Response | Promise<Response>) {
  const requests: unknown[] = [];
  const keys = ["authorization", "x-api-key", "x-subscription-token"];
  const serving = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, async (request) => {
    const { pathname, searchParams } = new URL(request.url);
    const body = await request.text();
    const own = [...request.headers].filter(([name]) => keys.includes(name));
    requests.push([
      request.method,
      pathname,
      Object.fromEntries(searchParams),
      Object.fromEntries(own),
      body === "" ? undefined : JSON.parse(body),
    ]);
    return await answer(request);
  });
  const url = `http://localhost:${serving.addr.port}`;
  return { url, requests, [Symbol.asyncDispose]: () => serving.shutdown() };
}

interface Play {
  readonly url?: string;
  readonly key?: string;
  readonly patienceMs?: number;
  readonly environment?: Readonly<Record<string, string>>;
  /** With bubblewrap, which costs more. */
  readonly isInSandbox?: boolean;
}

async function found(engine: Engine, { url, key = "KEY", isInSandbox, environment, ...more }: Play) {
  await using state = await scratch();
  const path = Deno.env.get("PATH") ?? "";
  if (isInSandbox !== true) Deno.env.set("PATH", "/nowhere");
  const place = {
    roots: [state.path("project")],
    stateDir: state.root,
    environment: { PATH: path, ...environment },
    modules: () => Promise.reject(new Error("no modules")),
    resolve: (name: string) => Promise.resolve(name === "localhost" ? ["127.0.0.1"] : ["10.0.0.1"]),
    ...more,
  };
  const search: WebSearch = { engine, ...url === undefined ? {} : { url } };
  try {
    const query = { query: "deno & node", count: 2 };
    const own = { key: engine === "searxng" ? "" : key, source: "A_KEY" };
    return await searchWeb(search, query, own, place, new AbortController().signal);
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  } finally {
    Deno.env.set("PATH", path);
  }
}

Deno.test({
  name: "each engine gets its own request, and its answer becomes titles, addresses, excerpts and dates",
  ignore,
  async fn() {
    for (const engine of Object.keys(PLAYS) as Engine[]) {
      const { request, answer } = PLAYS[engine];
      await using server = engineServer(() => Response.json(answer));
      const url = engine === "searxng" ? `${server.url}/searx/` : `${server.url}/api`;
      const answered = await found(engine, { url, isInSandbox: engine === "tavily" });
      assert.ok(typeof answered !== "string", `${answered}`);
      assert.deepEqual(server.requests, [request], engine);
      assert.equal(answered.engine, ENGINES[engine].name);
      const [first, second] = answered.pages;
      assert.deepEqual([first?.title, first?.url, first?.snippet], ["Deno", PAGE.url, SNIPPETS[engine]]);
      assert.equal(first?.date?.startsWith("2026") === true, engine !== "searxng" && engine !== "tavily");
      assert.deepEqual(second, { ...REST, snippet: "" });
    }
  },
});

/** Status and text of an answer → what the user and the model read. */
const WRONG: readonly (readonly [Engine, number, string, RegExp])[] = [
  [
    "brave",
    422,
    '{"error":{"code":"SUBSCRIPTION_TOKEN_INVALID"}}',
    /^Brave Search rejects the key of A_KEY \(HTTP 422\)\. Only the user/,
  ],
  ["brave", 422, '{"error":{"code":"VALIDATION"}}', /^Brave Search refuses the query \(HTTP 422\)\./],
  ["tavily", 401, '{"detail":{"error":"Unauthorized"}}', /^Tavily rejects the key of A_KEY/],
  ["tavily", 432, "{}", /^Tavily says that the account's quota is used up \(HTTP 432\)/],
  ["exa", 402, '{"tag":"NO_MORE_CREDITS"}', /^Exa says that the account's quota is used up/],
  ["kagi", 400, '{"error":[{"message":"Token signature failed to verify"}]}', /^Kagi rejects the key/],
  ["kagi", 429, "{}", /^Kagi accepts no more requests for now \(HTTP 429\)\. Wait/],
  [
    "searxng",
    403,
    "<h1>403</h1>",
    /^SearXNG refuses JSON \(HTTP 403\): the instance needs "json" in search\.formats/,
  ],
  ["brave", 503, "", /^Brave Search has failed \(HTTP 503\)/],
  ["searxng", 200, "<!doctype html><p>Login", /^SearXNG gave no JSON: web\.search\.url may be wrong/],
  ["exa", 200, "", /^Exa gave no JSON/],
  ["exa", 200, "[1]", /^Exa gave no JSON/],
  ["tavily", 200, '{"results":"none"}', /^Tavily gave an answer of an unknown form/],
  ["kagi", 200, '{"data":[]}', /^Kagi gave an answer of an unknown form/],
  [
    "exa",
    200,
    '{"results":[1,null,{"url":5},{"url":"javascript:alert(1)"},{"url":"file:///etc"}]}',
    /^Exa gave an answer of an unknown form/,
  ],
  ["exa", 200, `{"results":${"[".repeat(200_000)}`, /^Exa gave no JSON/],
  [
    "tavily",
    200,
    `{"results":["${"x".repeat(10_000_000)}"]}`,
    /^Tavily gave more than 2 MB, which is not read/,
  ],
];

Deno.test({
  name: "wrong keys, quotas, other formats and hostile answers end in one line that says what to do",
  ignore,
  async fn() {
    for (const [engine, status, text, line] of WRONG) {
      await using server = engineServer(() => new Response(text, { status }));
      const problem = await found(engine, { url: server.url });
      assert.match(`${problem}`, line);
      assert.doesNotMatch(`${problem}`, /\n|KEY(?!_)(?<!A_KEY)/);
      assert.equal(server.requests.length, 1);
    }
  },
});

Deno.test({
  name: "no answer shows what nobody sees, and none is longer than it may be",
  ignore,
  async fn() {
    const results = [
      { url: "javascript:alert(1)", title: "No" },
      {
        url: "https://a.example/\n\n>>> x",
        title: "\u001b[2J" + "T".repeat(9_999),
        description: "a\u0000&#27;&lt;b&gt;" + "x".repeat(99_999),
        page_age: { evil: 1 },
      },
      { url: "https://b.example/", title: 7, description: ["x"] },
    ];
    await using server = engineServer(() => Response.json({ type: "search", web: { results } }));
    const answered = await found("brave", { url: server.url });
    assert.ok(typeof answered !== "string", `${answered}`);
    const [first, second] = answered.pages;
    assert.deepEqual([first?.url, first?.title.length, first?.snippet.length], [
      "https://a.example/%3E%3E%3E%20x",
      200,
      1_000,
    ]);
    assert.match(first?.snippet ?? "", /^a<b>x/);
    assert.deepEqual(second, { url: "https://b.example/", title: "", snippet: "x" });
    await using none = engineServer(() => Response.json({ type: "search" }));
    assert.deepEqual(await found("brave", { url: none.url }), { engine: "Brave Search", pages: [] });
  },
});

Deno.test({
  name:
    "a key follows no redirect, is sent to no private address of a public name, and goes through the user's proxy",
  ignore,
  async fn() {
    await using other = engineServer(() => Response.json({ results: [] }));
    await using server = engineServer(() => Response.redirect(`${other.url}/`, 307));
    assert.match(
      `${await found("tavily", { url: server.url })}`,
      /redirects to another address \(HTTP 307\)/,
    );
    assert.deepEqual(other.requests, []);
    // Built-in addresses must be public.
    assert.match(
      `${await found("brave", {})}`,
      /api\.search\.brave\.com\) did not answer: 10\.0\.0\.1 is an address/,
    );
    assert.match(
      `${await found("brave", { key: "a\nb" })}`,
      /the key of A_KEY has characters that no key has/,
    );
    await using slow = engineServer(({ signal }) =>
      new Promise((resolve) =>
        signal.addEventListener("abort", () => resolve(new Response()), { once: true })
      )
    );
    const late = `${await found("exa", { url: slow.url, patienceMs: 1_500 })}`;
    assert.match(late, /^Exa \(localhost:\d+\) did not answer: it took longer than 1\.5 s\. Try again/);
    await using proxy = engineServer(() => Response.json(PLAYS.searxng.answer));
    const behind = await found("searxng", {
      url: "http://search.example/",
      environment: { HTTP_PROXY: proxy.url },
    });
    assert.equal(typeof behind === "string" ? behind : behind.proxy, proxy.url.replace("http://", ""));
  },
});

Deno.test("the option is complete, and sends no key in the clear", () => {
  const problem = (option: unknown) => WebSearch.safeParse(option).error?.issues[0]?.message;
  assert.equal(problem({ engine: "brave" }), undefined);
  assert.equal(problem({ engine: "searxng", url: "http://search.lan:8080" }), undefined);
  assert.equal(problem({ engine: "searxng" }), "needs url: your SearXNG instance");
  assert.equal(problem({ engine: "searxng", url: "http://a:b@s.lan" }), "must not contain a login");
  assert.match(problem({ engine: "exa", url: "http://a.example" }) ?? "", /^its url must be https/);
  assert.match(
    problem({ engine: "exa", key: "x" }) ?? "",
    /^unknown option key\. Known are engine, api_key, url$/,
  );
  assert.match(problem({ engine: "exa", api_key: "secret" }) ?? "", /must be "env:NAME" or "cmd:COMMAND"/);
});
