/** The approval of an address or a query is for one session and one request of it, whatever an engine sends. */
import assert from "node:assert/strict";
import type { RequestPermissionRequest } from "../../denops/agent/deps/acp_sdk.ts";
import type { Access } from "../../denops/agent/protocol/access.ts";
import { META, PERMISSION_OPTIONS } from "../../denops/agent/protocol/extensions.ts";
import { webAnswers } from "../../denops/agent/supervisor/client/answers/web.ts";
import type { ClientContext } from "../../denops/agent/supervisor/client/context.ts";
import { setUpGate } from "../support/gate.ts";

// Nobody listens there.
const URL_OF_RULE = "http://localhost:1/page";

const request = (url: string) => requestOf({ kind: "fetch", url });

function requestOf(access: Access): RequestPermissionRequest {
  return {
    sessionId: "s",
    toolCall: { toolCallId: "call", title: "fetch", kind: "fetch" },
    options: [...PERMISSION_OPTIONS],
    _meta: { [META]: { reason: "", force: false, access } },
  };
}

Deno.test("an engine fetches only what the gate has allowed, once, and every fetch taints the session", async () => {
  await using setup = await setUpGate({
    allow: ["fetch(localhost:1)", "search_web(*)"],
    ask: [],
    deny: ["fetch(denied.example)"],
  });
  const { gate, state } = setup;
  const tainted: (string | undefined)[] = [];
  const trust = { ...setup.context.trust, taint: (source?: string) => void tainted.push(source) };
  const context = { ...setup.context, session: "s", trust };
  const client = {
    ports: {
      ownerOf: (session: string) => session === "gone" ? undefined : 1,
      gate,
      trustOf: () => trust,
      world: { env: () => undefined },
    },
    permissions: {
      roots: [state.root],
      user: { state_dir: state.root, web_search: { engine: "searxng", url: "http://localhost:1" } },
      rules: context.rules,
    },
  } as unknown as ClientContext;
  const { fetch, search_web: search } = webAnswers(client);
  const open = (session: string, url: string) => fetch(session, { url }, new AbortController().signal);
  const refused = (session: string, url: string) => assert.rejects(open(session, url), /was not approved/);
  await refused("s", URL_OF_RULE);
  assert.deepEqual(tainted, []);
  await gate.permission(request(URL_OF_RULE), context);
  assert.deepEqual(tainted, ["web"]);
  for (const url of ["http://localhost:1/", `${URL_OF_RULE}?q`, "https://docs.example/"]) {
    await refused("s", url);
  }
  for (const session of ["other", "gone"]) await refused(session, URL_OF_RULE);
  // It was tried: nobody answers there, or nothing can be started.
  await assert.rejects(open("s", URL_OF_RULE), /^Error: localhost:1: /);
  assert.deepEqual(tainted, ["web", "web"]);
  await refused("s", URL_OF_RULE);
  await gate.permission(request(URL_OF_RULE), context);
  gate.settle(1);
  await refused("s", URL_OF_RULE);
  for (
    const url of [
      "http://denied.example/",
      "http://localhost:2/",
      "http://10.0.0.1/",
      "javascript:x",
      "nonsense",
    ]
  ) {
    await gate.permission(request(url), context);
    await refused("s", url);
  }
  const find = (session: string, query: string) =>
    search(session, { query, count: 1 }, new AbortController().signal);
  const approve = (engine: "searxng" | "brave", query: string) =>
    gate.permission(requestOf({ kind: "search_web", engine, query }), context);
  await assert.rejects(find("s", "mine"), /this query was not approved/);
  // Another engine than the user's.
  await approve("brave", "mine");
  await assert.rejects(find("s", "mine"), /this query was not approved/);
  await approve("searxng", "mine");
  await assert.rejects(find("s", "other"), /this query was not approved/);
  await assert.rejects(find("s", "mine"), /^Error: SearXNG \(localhost:1\) did not answer: /);
  await assert.rejects(find("s", "mine"), /this query was not approved/);
  assert.deepEqual(setup.updates.filter(({ type }) => type === "approval"), []);
});
