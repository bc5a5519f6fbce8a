/** A cancelled stream: over at every stage, and the provider's connection is closed. `scripts/bench` measures how soon. */
import assert from "node:assert/strict";
import { ModelServer } from "../../../../tests/model/model_server.ts";
import { checked, listen, serve, stream } from "../../../../tests/support/model_client.ts";
import { DEFAULT_TIMEOUT, within } from "../../../../tests/support/project.ts";
import { type WireName, WIRES } from "../../protocol/providers.ts";
import type { ModelEvent } from "./client.ts";

/** Cancels when `ready` resolves, or with the first event of this kind, and listens to the end. */
async function cancel(
  url: string,
  wire: WireName,
  ready: Promise<unknown> | ModelEvent["type"],
  text = "",
): Promise<void> {
  const controller = new AbortController();
  const abort = () => controller.abort();
  if (typeof ready !== "string") ready.then(abort);
  const events: ModelEvent[] = [];
  for await (const event of stream(url, { wire, signal: controller.signal, timeout: 3_600 })) {
    events.push(event);
    const isContent = event.type !== "deltas" || event.deltas.some(({ type }) => type !== "usage");
    if (event.type === ready && isContent && !controller.signal.aborted) abort();
  }
  const heard = checked(events);
  assert.equal(heard.end, "cancelled");
  assert.ok(heard.text.startsWith(text));
}

interface Stage {
  readonly what: string;
  readonly script: string;
  readonly at: "here" | ModelEvent["type"];
  readonly text?: string;
  /** The server sees the connection go, unless its answer was complete. */
  readonly gone: boolean;
}

const stages: readonly Stage[] = [
  { what: "while it waits for the answer to begin", script: "wait here\nsay never", at: "here", gone: true },
  { what: "in a thought", script: "think Hm\nwait here\nsay never", at: "deltas", gone: true },
  { what: "in the text", script: "say Half\nwait here\nsay never", at: "deltas", text: "Half", gone: true },
  { what: "in a flood", script: "flood 1000000", at: "deltas", text: "word1 ", gone: true },
  {
    what: "while it waits to try again",
    script: "repeat\nstatus 503 retry-after=590",
    at: "retry",
    gone: false,
  },
];

for (const wire of WIRES) {
  for (const { what, script, at, text, gone } of stages) {
    Deno.test(`${wire}: cancelled ${what}`, async () => {
      await using server = await ModelServer.start(script);
      const ending = cancel(server.url, wire, at === "here" ? server.reached("here") : at, text);
      assert.ok((await within(DEFAULT_TIMEOUT, ending)).done);
      if (gone) assert.ok((await within(DEFAULT_TIMEOUT, server.aborted())).done);
      assert.equal(server.requests.length, 1);
    });
  }

  Deno.test(`${wire}: cancelled before it began, nothing is sent`, async () => {
    await using server = await ModelServer.start("say never");
    assert.equal((await listen(server.url, { wire, signal: AbortSignal.abort() })).end, "cancelled");
    assert.equal(server.requests.length, 0);
  });

  Deno.test(`${wire}: cancelled in the middle of an error's body`, async () => {
    const reached = Promise.withResolvers<void>();
    const gone = Promise.withResolvers<void>();
    await using server = serve(async (http) => {
      await http.begin(500, {});
      await http.write(new TextEncoder().encode("Sor"));
      http.gone.addEventListener("abort", () => gone.resolve());
      reached.resolve();
      await gone.promise;
    });
    await cancel(server.url, wire, reached.promise);
    assert.ok((await within(DEFAULT_TIMEOUT, gone.promise)).done);
  });

  Deno.test(`${wire}: who stops listening ends the request`, async () => {
    await using server = await ModelServer.start("say Half\nwait here\nsay never");
    for await (const event of stream(server.url, { wire, timeout: 3_600 })) {
      assert.equal(event.type, "deltas");
      break;
    }
    assert.ok((await within(DEFAULT_TIMEOUT, server.aborted())).done);
  });
}

Deno.test("a cancel after the end changes nothing, and no timer is left", async () => {
  await using server = await ModelServer.start("say Fine");
  const controller = new AbortController();
  const { end } = await listen(server.url, { signal: controller.signal });
  controller.abort();
  assert.equal(end, "done");
});
