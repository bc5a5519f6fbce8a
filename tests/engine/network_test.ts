/** What stands between the engine or the supervisor and a model: proxies, and certificates of a CA of one's own. */
import assert from "node:assert/strict";
import { ModelServer } from "../model/model_server.ts";
import { providerOptions, type RunningAgent, SECRET, startAgent } from "../support/agent.ts";
import { chatShows, waitForChat } from "../support/chat.ts";
import { scratch } from "../support/project.ts";
import { sample } from "../support/sample.ts";

interface Listening extends AsyncDisposable {
  readonly port: number;
  /** Addresses that were asked for. */
  readonly asked: readonly string[];
}

/** Hands all requests on to the server at `to`; as a proxy it is asked for whole addresses. */
function forwarder(to: () => string, options: Partial<Deno.ServeTcpOptions & Deno.TlsCertifiedKeyPem> = {}) {
  const asked: string[] = [];
  const serve = async (request: Request) => {
    const { pathname, search } = new URL(request.url);
    asked.push(request.url);
    const body = request.method === "POST" ? await request.arrayBuffer() : null;
    return await fetch(to() + pathname + search, { method: request.method, headers: request.headers, body });
  };
  const server = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen() {}, ...options }, serve);
  const port = (server.addr as Deno.NetAddr).port;
  return { port, asked, [Symbol.asyncDispose]: () => server.shutdown() } satisfies Listening;
}

/** A new chat whose model is at this address. */
async function chatWith({ nvim, state, server }: RunningAgent, url: string, say: string): Promise<void> {
  server.play(`new-history\nsay ${say}`);
  await nvim.lua(`require("agent").setup({ ${providerOptions("openai_chat", url, state.root)} })`);
  await nvim.command("Agent new");
  await nvim.command("stopinsert");
  await nvim.command("Agent! Hello");
}

async function health({ nvim }: RunningAgent): Promise<string> {
  await nvim.command("checkhealth agent");
  const text = await nvim.lua<string>(
    `return table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), " ")`,
  );
  await nvim.command("bwipeout!");
  return text.replaceAll(/\s+/g, " ");
}

const PROXIES = ["http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY", "https_proxy", "HTTPS_PROXY"];

Deno.test("a proxy is asked for other hosts, never for this machine, and an error names it", async () => {
  await using server = await ModelServer.start("say One.", { secrets: [SECRET] });
  await using proxy = forwarder(() => server.url);
  await using six = forwarder(() => server.url, { hostname: "::1" });
  const address = `http://user:secret@127.0.0.1:${proxy.port}`;
  const env = {
    ...Object.fromEntries(PROXIES.map((name) => [name, address])),
    NO_PROXY: "direct.test",
    no_proxy: "",
  };
  await using agent = await startAgent({ script: "", server, baseUrl: `http://[::1]:${six.port}/v1`, env });
  const { nvim } = agent;
  await nvim.command("Agent Hello");
  await waitForChat(nvim, "One.");
  assert.match(await health(agent), /OK test answers, and has the model scripted/);
  assert.deepEqual([...proxy.asked], []);

  await chatWith(agent, "http://far.test/v1", "Two.");
  await waitForChat(nvim, "Two.");
  assert.ok(proxy.asked.every((url) => url.startsWith("http://far.test/v1/")) && proxy.asked.length > 0);
  await proxy[Symbol.asyncDispose]();
  await nvim.command("Agent! Hello again");
  const line = `Cannot reach http://far.test/v1: connection refused (proxy 127.0.0.1:${proxy.port}). ` +
    "Check the proxy, or name the host in NO_PROXY.";
  await waitForChat(nvim, line);
  assert.ok(!chatShows(nvim.text(), "secret"));
});

async function openssl(cwd: string, ...args: string[]): Promise<void> {
  const { success, stderr } = await new Deno.Command("openssl", { args, cwd, stdout: "null" }).output();
  assert.ok(success, new TextDecoder().decode(stderr));
}

/** A CA of one's own, `ca.pem`, and what it has certified for this machine, `key.pem` and `cert.pem`. */
async function certificates() {
  const folder = await scratch({ extensions: "subjectAltName=DNS:localhost,IP:127.0.0.1\n" });
  const make = (
    name: string,
  ) => ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-subj", name];
  const run = (...args: string[]) => openssl(folder.root, ...args);
  await run("req", "-x509", ...make("/CN=Test CA"), "-keyout", "ca.key", "-out", "ca.pem");
  await run("req", ...make("/CN=localhost"), "-keyout", "key.pem", "-out", "request.pem");
  const signed = ["-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-extfile", "extensions"];
  await run("x509", "-req", "-in", "request.pem", ...signed, "-out", "cert.pem");
  return folder;
}

Deno.test({
  name: "a CA of one's own is named by DENO_CERT, NODE_EXTRA_CA_CERTS or SSL_CERT_FILE",
  ignore: Deno.build.os === "windows",
  async fn() {
    await using folder = await certificates();
    let model = "";
    const pair = { cert: await folder.read("cert.pem"), key: await folder.read("key.pem") };
    await using server = forwarder(() => model, pair);
    await Deno.symlink(folder.path("ca.pem"), folder.path("link.pem"));
    const url = `https://localhost:${server.port}/v1`;
    for (const name of sample(["SSL_CERT_FILE", "DENO_CERT", "NODE_EXTRA_CA_CERTS"], 1)) {
      // Nobody listens at this proxy.
      const env = { [name]: folder.path("link.pem"), https_proxy: "http://127.0.0.1:9", HTTPS_PROXY: "" };
      await using agent = await startAgent({ script: "say Hi.", env, baseUrl: url });
      model = agent.server.url;
      await agent.nvim.command("Agent Hello");
      await waitForChat(agent.nvim, "Hi.");
      assert.match(await health(agent), /OK test answers, and has the model scripted/, name);
    }
  },
});
