/** What engines are told of Copilot, against servers that check headers and bodies. */
import assert from "node:assert/strict";
import fc from "fast-check";
import { UserConfig } from "../../../protocol/config.ts";
import { CopilotServer, listed, OAUTH } from "../../../../../tests/support/copilot_server.ts";
import { type Scratch, scratch } from "../../../../../tests/support/project.ts";
import { factsLine, modelsOf } from "../../../models/model_list.ts";
import { wireFor } from "../../../protocol/providers.ts";
import { Offers } from "../offers.ts";
import { engineConfig, findProvider } from "../provider.ts";
import { checkProvider } from "../provider_check.ts";
import { renewedKey } from "./account.ts";
import { copilotQuota } from "./copilot.ts";
import { apiAddress, gitHubOf } from "./github.ts";
import { hasOwnLogin, loginFolder, oauthTokens, removeLogin, saveLogin } from "./logins.ts";
import { copilotModels, defaultModel, modelProblem, otherWire } from "./models.ts";
import { quotaLine } from "./quota.ts";

const APPS = "config/github-copilot/apps.json";

function options(server: CopilotServer, home: Scratch, changes: Record<string, unknown> = {}): UserConfig {
  return UserConfig.parse({
    provider: "copilot",
    providers: { copilot: server.options },
    state_dir: home.path("state"),
    ...changes,
  });
}

const world = (home: Scratch) => ({
  env: (name: string) => name === "XDG_CONFIG_HOME" ? home.path("config") : undefined,
  fetch: (url: string, init: RequestInit) => fetch(url, init),
  run: () => Promise.reject(new Error("no commands")),
});

const configOf = (server: CopilotServer, home: Scratch, changes = {}) =>
  engineConfig(options(server, home, changes), world(home), []);

Deno.test("copilot: the login of another editor becomes a key for the engine, which never gets the login", async () => {
  await using server = await CopilotServer.start({
    models: [
      listed("embedding", { capabilities: { type: "embeddings" } }),
      listed("hidden", { model_picker_enabled: false }),
      listed("blind", {}, { tool_calls: true, vision: false }),
      listed("chosen", { is_chat_default: true, supported_endpoints: ["/chat/completions", "/responses"] }),
      listed("o5.1", { supported_endpoints: ["/responses", "ws:/responses"] }),
      listed("messages", { supported_endpoints: ["/v1/messages"] }),
    ],
  });
  await using home = await scratch({ [APPS]: server.appsJson() });
  const config = await configOf(server, home);
  assert.equal(config.model, "chosen");
  assert.equal(config.context_window, 200_000);
  assert.equal(config.vision, true);
  assert.equal(config.provider.wire, "openai_chat");
  assert.equal(config.provider.base_url, server.address);
  assert.equal(config.provider.api_key, server.key);
  const wires = ["chosen", "messages", "o5.1", "o5x1"].map((name) => wireFor(config.provider, name));
  assert.deepEqual(wires, ["openai_chat", "anthropic_messages", "openai_responses", "openai_chat"]);
  assert.ok((config.provider.key_expires ?? 0) > Date.now() + 1_400_000);
  assert.ok(!JSON.stringify(config).includes(OAUTH), "the login is told");
  assert.deepEqual(server.problems, []);

  const blind = await configOf(server, home, { model: "blind", context_window: 9_000 });
  assert.deepEqual([blind.vision, blind.context_window, blind.native_tools], [false, 9_000, undefined]);
  assert.equal(server.keys, 1, "a key that holds is not asked for again");
  assert.equal((await checkProvider(config.provider, config.model, fetch)).state, "ok");
});

Deno.test("copilot: why it cannot be used, in one line", async () => {
  await using server = await CopilotServer.start({
    models: [
      listed("terms", { policy: { state: "disabled", terms: "Enable it" } }),
      listed("odd", { supported_endpoints: ["/v9/telepathy"] }),
      listed("fine"),
    ],
  });
  await using home = await scratch();
  const fails = (changes: Record<string, unknown>, pattern: RegExp) =>
    assert.rejects(configOf(server, home, changes), (error: Error) => {
      assert.match(error.message, pattern);
      assert.ok(!error.message.includes("\n") && !error.message.includes(OAUTH), error.message);
      return true;
    });
  await fails({}, /^Cannot use copilot: nobody is logged in\. Run :Agent login copilot$/);
  await home.write(APPS, "{");
  await fails({}, /nobody is logged in/);
  await home.write(APPS, server.appsJson("ghu_old"));
  await fails({}, /GitHub does not take the login any more\. Run :Agent login copilot$/);
  await home.write("config/github-copilot/hosts.json", server.appsJson());
  const details = { message: "No access to GitHub Copilot found. You are logged in as nobody.", url: "x" };
  server.exchange = { status: 403, body: { message: "Resource not accessible", error_details: details } };
  await fails(
    {},
    /^Cannot use copilot: No access to GitHub Copilot found\. You are logged in as nobody\. See http/,
  );
  server.exchange = { status: 404, body: { message: "Not Found" } };
  await fails({}, /: Not Found\. See /);
  server.exchange = { status: 503, body: {} };
  await fails({}, /GitHub answers HTTP 503\. Try again later\.$/);
  server.exchange = { status: 200, body: { hello: "there" } };
  await fails({}, /GitHub answers HTTP 200\. Try again later\.$/);
  server.exchange = undefined;
  await fails({ model: "terms" }, /does not let this account use terms\. Enable it at https:/);
  await fails(
    { model: "odd" },
    /^Cannot use odd: Copilot serves it in an unknown way\. Choose another model\.$/,
  );
  await fails({ model: "gone" }, /^copilot has no model "gone"\. It has fine\.$/);
  assert.equal((await configOf(server, home)).model, "fine", "the second login is taken");
  const gone = { copilot: { ...server.options, github_api_url: "http://127.0.0.1:2" } };
  await fails({ providers: gone }, /^Cannot reach http:\/\/127\.0\.0\.1:2: connection refused\./);
  assert.deepEqual(server.problems, []);
});

Deno.test("copilot: a key is renewed when it ends or is refused, and GitHub is not asked at an engine's pleasure", async () => {
  await using server = await CopilotServer.start();
  await using home = await scratch({ [APPS]: server.appsJson() });
  const user = options(server, home);
  const { provider } = await engineConfig(user, world(home), []);
  const asked = { address: provider.base_url, refused: false };
  assert.equal((await renewedKey(user, world(home), asked)).api_key, provider.api_key);
  const refused = { ...asked, refused: true };
  const [one, other] = await Promise.all([1, 2].map(() => renewedKey(user, world(home), refused)));
  assert.equal(one?.api_key, server.key);
  assert.deepEqual(one, other, "who asks at the same time gets the same");
  assert.equal(server.keys, 2);
  for (let time = 0; time < 20; time++) await renewedKey(user, world(home), refused);
  assert.equal(server.keys, 2);
  await assert.rejects(
    renewedKey(user, world(home), { ...asked, address: "http://127.0.0.1:2" }),
    /another address\. Quit Neovim/,
  );
  await home.write(APPS, server.appsJson("ghu_old"));
  const before = server.seen.length;
  for (let time = 0; time < 20; time++) {
    await assert.rejects(renewedKey(user, world(home), refused), /does not take the login any more/);
  }
  assert.equal(server.seen.length, before + 1, "nor in vain");
});

Deno.test("copilot: a key that ends within the minute is not given out", async () => {
  await using server = await CopilotServer.start({
    key: { refresh_in: undefined, expires_at: Date.now() / 1_000 + 30 },
  });
  await using home = await scratch({ [APPS]: server.appsJson() });
  const { provider: { api_key: first } } = await configOf(server, home);
  const { provider: { api_key: second } } = await configOf(server, home);
  assert.notEqual(first, second);
});

Deno.test("copilot: the key goes to an address of Copilot's alone, or to the user's", () => {
  const github = gitHubOf(undefined);
  assert.deepEqual(github, { web: "https://github.com", api: "https://api.github.com", host: "github.com" });
  for (const name of ["api", "api.individual", "api.business", "api.enterprise"]) {
    const address = `https://${name}.githubcopilot.com`;
    assert.equal(apiAddress(`${address}/`, github, undefined), address);
  }
  assert.equal(apiAddress(undefined, github, undefined), "https://api.githubcopilot.com");
  const others = [
    ...[
      "http://api.githubcopilot.com",
      "https://githubcopilot.com.evil.test",
      "https://evilgithubcopilot.com",
    ],
    ...[
      "https://api.githubcopilot.com:8443",
      "https://a:b@api.githubcopilot.com",
      "https://127.0.0.1",
      "",
      "x",
    ],
    ...[
      "https://evil.test/.githubcopilot.com",
      "https://evil.test#.githubcopilot.com",
      "https://api.acme.ghe.com",
    ],
  ];
  for (const told of others) {
    assert.throws(() => apiAddress(told, github, undefined), /no address of Copilot's/, told);
  }
  const own = { github_url: "https://acme.ghe.com/" };
  const acme = gitHubOf(own);
  assert.equal(acme.api, "https://api.acme.ghe.com");
  assert.equal(apiAddress("https://copilot-api.acme.ghe.com", acme, own), "https://copilot-api.acme.ghe.com");
  assert.throws(() => apiAddress("https://copilot-api.other.ghe.com", acme, own), /no address of Copilot's/);
  assert.equal(
    apiAddress("https://x.test", github, { base_url: "http://127.0.0.1:9/" }),
    "http://127.0.0.1:9",
  );
});

Deno.test({
  name: "copilot: our login is for the user's eyes, comes first, and goes without others' being touched",
  ignore: Deno.build.os === "windows",
  async fn() {
    await using home = await scratch({
      [APPS]: JSON.stringify({
        "github.com:Iv1.b507a08c87ecfe98": { oauth_token: "theirs" },
        "notgithub.com": { oauth_token: "other" },
        "github.company.test:x": { oauth_token: "other" },
      }),
      "config/github-copilot/hosts.json": JSON.stringify({ "github.com": { oauth_token: "theirs" }, x: 1 }),
    });
    const state = home.path("state");
    const tokens = () => oauthTokens("github.com", state, world(home).env);
    assert.deepEqual(await tokens(), ["theirs"]);
    assert.equal(await hasOwnLogin("github.com", state), false);
    assert.equal(await removeLogin("github.com", state), false);
    await saveLogin("acme.ghe.com", "company", state);
    await saveLogin("github.com", "first", state);
    await saveLogin("github.com", "ours", state);
    assert.deepEqual(await tokens(), ["ours", "theirs"]);
    const file = `${loginFolder(state)}/copilot.json`;
    const modeOf = async (path: string) => ((await Deno.stat(path)).mode ?? 0) & 0o777;
    assert.equal(await modeOf(file), 0o600);
    assert.equal(await modeOf(loginFolder(state)), 0o700);
    assert.equal(await removeLogin("github.com", state), true);
    assert.deepEqual(await tokens(), ["theirs"]);
    assert.deepEqual(await oauthTokens("acme.ghe.com", state, world(home).env), ["company"]);
    assert.equal(await removeLogin("acme.ghe.com", state), true);
    await assert.rejects(Deno.stat(file), Deno.errors.NotFound);
    const linux = { HOME: home.path("h") };
    await home.write(
      "h/.config/github-copilot/apps.json",
      JSON.stringify({ "github.com": { oauth_token: "home" } }),
    );
    await home.write(
      "l/github-copilot/apps.json",
      JSON.stringify({ "github.com": { oauth_token: "local" } }),
    );
    const env = (name: string) => ({ ...linux, LOCALAPPDATA: home.path("l") })[name];
    assert.deepEqual(await oauthTokens("github.com", state, env, "linux"), ["home"]);
    assert.deepEqual(await oauthTokens("github.com", state, env, "windows"), ["local"]);
  },
});

Deno.test("copilot: without a choice our own login is used, and that of another editor is not", async () => {
  await using server = await CopilotServer.start();
  await using home = await scratch({ [APPS]: server.appsJson() });
  const quiet = { ...world(home), fetch: (url: string, init: RequestInit) => fetch(url, init) };
  const user = options(server, home, {
    provider: undefined,
    // More than one, so that none of them is meant.
    providers: { copilot: server.options, other: { wire: "ollama", base_url: "http://127.0.0.1:1" } },
  });
  await assert.rejects(engineConfig(user, quiet, []), /No model is configured: .*:Agent login copilot/);
  await saveLogin(new URL(server.web).host, OAUTH, user.state_dir);
  assert.equal((await engineConfig(user, quiet, [])).provider.name, "copilot");
});

Deno.test("copilot: which models there are, and which is chosen", () => {
  assert.equal(copilotModels({ models: [] }), undefined);
  assert.deepEqual(copilotModels({ data: [] }), []);
  assert.equal(defaultModel([]), undefined);
  const models = copilotModels({
    data: [
      { id: 7 },
      listed("toolless", { is_chat_default: true }, {}),
      listed("forbidden", { is_chat_default: true, policy: { state: "unconfigured" } }),
      listed("first", { billing: { multiplier: 0.33, is_premium: true }, supported_endpoints: [] }),
      listed("second", { capabilities: { type: "chat", limits: { max_prompt_tokens: "many" } } }),
    ],
  }) ?? [];
  assert.equal(defaultModel(models)?.name, "first");
  const [, , first, second] = models;
  assert.equal(first === undefined ? "" : factsLine(first), "200k · 0.33× · tools · vision");
  assert.equal(second?.context_window, undefined);
  // As the list of any provider is read, for a choice.
  const offered = modelsOf({ data: [listed("a"), listed("b", { model_picker_enabled: false })] });
  assert.deepEqual(offered?.map(({ name }) => name), ["a"]);
  assert.equal(modelProblem("first", models), undefined);
});

Deno.test("copilot: in the lists of models and providers, whenever they are opened", async () => {
  const models = [
    listed("a", { billing: { multiplier: 3 } }),
    listed("b", { policy: { state: "disabled" } }),
  ];
  await using server = await CopilotServer.start({ models });
  await using home = await scratch({ [APPS]: "{}" });
  const user = options(server, home, { provider: undefined, model: "of-another-provider" });
  const offers = new Offers(world(home));
  const offered = async () => (await offers.providers(user)).find(({ name }) => name === "copilot");
  assert.deepEqual(await offered(), {
    name: "copilot",
    text: "nobody is logged in: :Agent login copilot",
    ready: false,
  });
  await home.write(APPS, server.appsJson());
  assert.deepEqual(await offered(), { name: "copilot", text: "logged in", ready: true });
  const provider = await findProvider(user, "copilot", world(home), []);
  assert.deepEqual((await offers.models(provider, user))?.map(factsLine), ["200k · 3× · tools · vision"]);
  const old = { ...provider, api_key: "tid=0;exp=0:mac", key_expires: Date.now() - 1 };
  assert.deepEqual(
    (await offers.models(old, user))?.map(({ name }) => name),
    ["a"],
    "by the key of this moment",
  );
  assert.equal((await offers.find(old, "a", user)).context_window, 200_000);
  await assert.rejects(offers.find(old, "b", user), /^Error: copilot has no model "b"/);
  assert.deepEqual(server.problems, []);
});

Deno.test("copilot: whatever is answered is read, or is nothing", () => {
  const name = fc.string({ minLength: 1, maxLength: 12 });
  const row = fc.record({
    id: fc.oneof(name, fc.anything()),
    policy: fc.oneof(fc.anything(), fc.record({ state: fc.anything() })),
    supported_endpoints: fc.oneof(
      fc.anything(),
      fc.array(fc.constantFrom("/responses", "/v1/messages", "x")),
    ),
    billing: fc.anything(),
    capabilities: fc.oneof(fc.anything(), fc.record({ type: fc.constant("chat"), supports: fc.anything() })),
  }, { requiredKeys: [] });
  fc.assert(fc.property(fc.oneof(fc.anything(), fc.record({ data: fc.array(row) })), name, (body, other) => {
    const models = copilotModels(body) ?? [];
    const wires = models.flatMap(otherWire);
    for (const one of models) {
      // The last of two with one name may be spoken to otherwise.
      if (models.filter(({ name }) => name === one.name).length > 1 || one.wire === undefined) continue;
      assert.equal(wireFor({ wire: "openai_chat", wires }, one.name), one.wire);
    }
    if (!models.some((one) => one.name === other)) {
      assert.equal(wireFor({ wire: "openai_chat", wires }, other), "openai_chat");
      assert.match(modelProblem(other, models) ?? "", /^copilot has no model "/);
    }
    defaultModel(models);
    quotaLine(body);
  }));
});

Deno.test("copilot: what is left, in one line", async () => {
  const premium = { entitlement: 300, remaining: 211.96, unlimited: false, quota_id: "premium" };
  const paid = { quota_reset_date: "2026-12-01", quota_snapshots: { premium_interactions: premium } };
  assert.equal(quotaLine(paid), "Copilot: 212 of 300 premium requests left, resets 1 December.");
  const odd = {
    quota_snapshots: { premium_interactions: { ...premium, remaining: -3 } },
    quota_reset_date: "soon",
  };
  assert.equal(quotaLine(odd), "Copilot: 0 of 300 premium requests left.");
  const unlimited = { quota_snapshots: { premium_interactions: { ...premium, unlimited: true } } };
  assert.equal(quotaLine(unlimited), "Copilot: premium requests are not limited.");
  const free = {
    access_type_sku: "free_limited_copilot",
    ...{
      monthly_quotas: { chat: 50, completions: 2_000 },
      limited_user_quotas: { chat: 31, completions: 9 },
    },
    limited_user_reset_date: "2026-12-14",
  };
  assert.equal(quotaLine(free), "Copilot: 31 of 50 messages left, resets 14 December.");
  for (const body of [{}, undefined, "x", { quota_snapshots: null }]) {
    assert.equal(quotaLine(body), undefined);
  }

  await using server = await CopilotServer.start();
  await using home = await scratch({ [APPS]: server.appsJson() });
  server.account = paid;
  assert.equal(await copilotQuota(options(server, home), world(home)), quotaLine(paid));
  server.logins.clear();
  assert.equal(await copilotQuota(options(server, home), world(home)), undefined);
  assert.deepEqual(server.problems, []);
});
