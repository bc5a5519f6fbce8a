/** The tool for web pages, as its user sees it: what asks, what is shown, and what reaches the model. */
import assert from "node:assert/strict";
import { startAgent } from "../support/agent.ts";
import { waitForChat, waitForTurn } from "../support/chat.ts";

const LONG = Array.from({ length: 900 }, (_, at) => `<p>Paragraph ${at} of the guide.</p>`).join("");
const PAGE =
  `<title>Guide</title><nav>Menu</nav><main><h1>Guide</h1><p>Use <code>greet()</code>.</p><pre>greet("x")</pre>${LONG}</main>`;

const call = (url: string, page?: number) => `call fetch ${JSON.stringify({ url, page })}`;

Deno.test({
  name:
    "a page asks with its address, arrives as fenced Markdown, and marks the session; rules answer by host",
  ignore: Deno.build.os !== "linux",
  async fn() {
    const requests: string[] = [];
    // All names are reached through it, so none has to exist.
    await using proxy = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, ({ url }) => {
      requests.push(url);
      if (url.startsWith("http://search.example/")) {
        return Response.json({ results: [{ url: "https://a.example/", title: "Found", content: "Here." }] });
      }
      if (url.endsWith("/moved")) return Response.redirect("http://elsewhere.example/", 302);
      return new Response(PAGE, { headers: { "content-type": "text/html" } });
    });
    await using agent = await startAgent({
      script: [call("http://docs.example/guide"), call("http://docs.example/guide", 2), "say Read."].join(
        "\n---\n",
      ),
      options: `sessions = { title = false }, rules = { allow = { "fetch(allowed.example)" } },
        web = { search = { engine = "searxng", url = "http://search.example" } }`,
      env: { HTTP_PROXY: `http://127.0.0.1:${proxy.addr.port}` },
      columns: 100,
    });
    const { nvim, server } = agent;
    const first = `(require("agent.approval.queue").first() or {})`;
    const play = async (text: string, ...calls: readonly string[]) => {
      server.play([...calls, "say Seen."].join("\n---\n"));
      await nvim.command(`Agent ${text}`);
    };
    await nvim.command("Agent Read the guide");
    await nvim.waitFor(`${first}.title ~= nil`);
    await nvim.waitForScreen("http://docs.example/guide");
    assert.deepEqual(await nvim.lua(`return { ${first}.title, ${first}.detail, ${first}.suggestion }`), [
      "fetch http://docs.example/guide",
      "http://docs.example/guide",
      "fetch(docs.example)",
    ]);
    assert.deepEqual(requests, []);
    await nvim.command("Agent approve");
    await waitForChat(nvim, "Read.");
    await waitForTurn(nvim);
    // The second part needs neither an approval nor a request.
    assert.deepEqual(requests, ["http://docs.example/guide"]);
    await nvim.waitForScreen("page 2 of 2");
    await nvim.waitForScreen("untrusted text");
    const [one = "", two = ""] = server.requests.slice(-2).map(({ text }) => text);
    const lines = one.split("\n");
    assert.match(lines[0] ?? "", /page 1 of 2\. Strangers wrote what is between the two marks/);
    assert.deepEqual(lines.slice(2, 8), ["# Guide", "", "Use `greet()`.", "", "```", 'greet("x")']);
    assert.ok(two.includes("Paragraph 899 of the guide."), two.slice(0, 300));
    assert.ok(!one.includes("Menu"));

    await play("Another host", call("http://other.example/"));
    await nvim.waitFor(`(${first}.reason or ""):find("has read web pages", 1, true)`);
    await nvim.command("Agent reject no");
    await waitForTurn(nvim);
    await play(
      "Allowed and private",
      call("http://allowed.example/moved"),
      call("http://10.0.0.1/"),
      call("http://localhost:1/"),
    );
    await waitForTurn(nvim);
    assert.deepEqual(requests.slice(1), ["http://allowed.example/moved"]);
    const [moved, ...refused] = server.requests.slice(-3).map(({ text }) => text);
    assert.match(moved ?? "", /It redirects to another host: http:\/\/elsewhere\.example\//);
    assert.match(
      refused.join("\n"),
      /its host is not public; only a rule of the user such as fetch\(localhost:1\) opens it/,
    );

    await play("Search", 'call search_web {"query": "greet in deno"}');
    await nvim.waitForScreen("searxng gets: greet in deno");
    assert.match(
      `${await nvim.lua(`return ${first}.reason`)}`,
      /^needs your approval; this session has read web pages$/,
    );
    assert.equal(requests.length, 2);
    await nvim.command("Agent approve");
    await waitForTurn(nvim);
    assert.deepEqual(requests.slice(2), ["http://search.example/search?q=greet+in+deno&format=json"]);
    const results = server.requests.at(-1)?.text ?? "";
    assert.match(
      results,
      /^SearXNG, 1 result for "greet in deno", through the proxy 127\.0\.0\.1:\d+\. Strangers/,
    );
    assert.ok(results.includes("1. Found\n   https://a.example/\n   Here."), results);
  },
});
