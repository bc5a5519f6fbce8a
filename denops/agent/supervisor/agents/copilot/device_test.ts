/** The device flow against a scripted GitHub, with waits that pass at once. */
import assert from "node:assert/strict";
import { CopilotServer, OAUTH, USER_CODE } from "../../../../../tests/support/copilot_server.ts";
import { DEFAULT_TIMEOUT } from "../../../../../tests/support/project.ts";
import { beginLogin } from "./device.ts";
import { gitHubOf } from "./github.ts";

const PENDING = { error: "authorization_pending", error_description: "The request is still pending." };

/** How a login ends, and how long each wait was, in milliseconds. */
async function play(server: CopilotServer, given: Partial<Parameters<typeof beginLogin>[1]> = {}) {
  const waits: number[] = [];
  let now = 0;
  const signal = AbortSignal.timeout(DEFAULT_TIMEOUT);
  const login = await beginLogin(gitHubOf(server.options), {
    fetch: (url, init) => fetch(url, init),
    wait(milliseconds) {
      waits.push(milliseconds);
      now += milliseconds;
      return Promise.resolve();
    },
    now: () => now,
    ...given,
  }, signal);
  const end = await login.agreed(signal).catch((error: Error) => error.message);
  return { login, end, waits };
}

Deno.test("device flow: code, waiting, slower when GitHub wants it, token", async () => {
  await using server = await CopilotServer.start({
    polls: [PENDING, { error: "slow_down", interval: 10 }, PENDING, { error: "slow_down" }, {
      access_token: OAUTH,
    }],
  });
  const { login, end, waits } = await play(server);
  assert.deepEqual([login.code, login.url], [USER_CODE, `${server.web}/login/device`]);
  assert.equal(end, OAUTH);
  assert.deepEqual(waits, [0, 0, 10_000, 10_000, 15_000]);
  assert.deepEqual(server.problems, []);
});

Deno.test("device flow: each end has its line", async () => {
  const ends: readonly (readonly [Record<string, unknown>, RegExp])[] = [
    [{ error: "access_denied" }, /^The login was denied at GitHub\. :Agent login copilot asks again\.$/],
    [{ error: "expired_token" }, /^The code was not used in time\. Run :Agent login copilot again\.$/],
    [
      { error: "device_flow_disabled", error_description: "Device\nflow is off." },
      /GitHub says Device flow is off\.$/,
    ],
    [{ error: "incorrect_client_credentials" }, /GitHub says incorrect_client_credentials\.$/],
    [{ odd: true }, /answers HTTP 200\. Try again later\.$/],
  ];
  for (const [poll, pattern] of ends) {
    await using server = await CopilotServer.start({ polls: [PENDING, poll] });
    assert.match((await play(server)).end, pattern);
  }
  await using slow = await CopilotServer.start({ polls: [{ error: "slow_down", interval: 300 }] });
  assert.match((await play(slow)).end, /not used in time/, "by our own clock too");
});

Deno.test("device flow: the network may be away for a while, and not for ever", async () => {
  for (
    const [times, pattern] of [[4, new RegExp(OAUTH)], [
      5,
      /^Cannot reach http:.*connection refused/,
    ]] as const
  ) {
    await using server = await CopilotServer.start();
    let left: number = times;
    const { end } = await play(server, {
      fetch: (url, init) =>
        url.endsWith("/access_token") && left-- > 0
          ? Promise.reject(new TypeError("connection refused"))
          : fetch(url, init),
    });
    assert.match(end, pattern);
  }
});

Deno.test("device flow: a page that is not GitHub's is not shown, and nothing goes on after a stop", async () => {
  await using server = await CopilotServer.start({ page: "https://github.com.evil.test" });
  await assert.rejects(play(server), /the page for the code is not on http/);
  await using other = await CopilotServer.start({ polls: [PENDING] });
  const stop = new AbortController();
  const login = await beginLogin(gitHubOf(other.options), {
    fetch: (url, init) => fetch(url, init),
    wait: (_, signal) => Promise.resolve().then(() => signal.throwIfAborted()),
    now: () => 0,
  }, stop.signal);
  const agreed = login.agreed(stop.signal);
  stop.abort();
  await assert.rejects(agreed, { name: "AbortError" });
  const polls = other.polls.length;
  await new Promise((resolve) => setTimeout(resolve, 0));
  assert.equal(other.polls.length, polls);
});
