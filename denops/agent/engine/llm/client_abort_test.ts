/** A cancelled stream: over at once, at every stage, and the provider's connection is closed. */
import assert from "node:assert/strict";
import { ModelServer } from "../../../../tests/model/model_server.ts";
import { checked, KEY, listen, serve, stream } from "../../../../tests/support/model_client.ts";
import { within } from "../../../../tests/support/project.ts";
import { type WireName, WIRES } from "../../protocol/providers.ts";
import type { ModelEvent } from "./client.ts";

const MOST_MS = 100;

interface Cancelled {
  readonly events: readonly ModelEvent[];
  readonly milliseconds: number;
}

/** Cancels when `ready` resolves, or with the first event of this kind. */
async function cancel(
  url: string,
  wire: WireName,
  ready: Promise<unknown> | ModelEvent["type"],
): Promise<Cancelled> {
  const controller = new AbortController();
  let at = Infinity;
  const abort = () => {
    at = performance.now();
    controller.abort();
  };
  if (typeof ready !== "string") ready.then(abort);
  const events: ModelEvent[] = [];
  for await (const event of stream(url, { wire, signal: controller.signal })) {
    events.push(event);
    if (event.type === ready && !controller.signal.aborted) abort();
  }
  return { events, milliseconds: performance.now() - at };
}

function checkCancelled({ events, milliseconds }: Cancelled): void {
  assert.equal(checked(events).end, "cancelled");
  assert.ok(milliseconds < MOST_MS, `${milliseconds} ms`);
}

for (const wire of WIRES) {
  Deno.test(`${wire}: cancelled before it began, nothing is sent`, async () => {
    await using server = await ModelServer.start("say never");
    const signal = AbortSignal.abort();
    assert.equal((await listen(server.url, { wire, signal })).end, "cancelled");
    assert.equal(server.requests.length, 0);
  });

  Deno.test(`${wire}: cancelled while it waits for the answer to begin`, async () => {
    await using server = await ModelServer.start("wait here\nsay never");
    checkCancelled(await cancel(server.url, wire, server.reached("here")));
    assert.equal((await server.aborted()).wire, wire);
  });

  Deno.test(`${wire}: cancelled in the middle of the answer`, async () => {
    await using server = await ModelServer.start("say Half\nwait here\nsay never");
    const cancelled = await cancel(server.url, wire, "deltas");
    checkCancelled(cancelled);
    assert.equal(checked(cancelled.events).text, "Half");
    await server.aborted();
  });

  Deno.test(`${wire}: cancelled in the middle of a flood`, async () => {
    await using server = await ModelServer.start("flood 1000000");
    checkCancelled(await cancel(server.url, wire, "deltas"));
    await server.aborted();
  });

  Deno.test(`${wire}: cancelled while it waits to try again`, async () => {
    await using server = await ModelServer.start("repeat\nstatus 503 retry-after=30");
    checkCancelled(await cancel(server.url, wire, "retry"));
    assert.equal(server.requests.length, 1);
  });

  Deno.test(`${wire}: cancelled in the middle of an error's body`, async () => {
    const reached = Promise.withResolvers<void>();
    const gone = Promise.withResolvers<void>();
    await using server = serve(async (http) => {
      await http.begin(500, {});
      await http.write(new TextEncoder().encode("Sor"));
      reached.resolve();
      http.gone.addEventListener("abort", () => gone.resolve());
      await gone.promise;
    });
    checkCancelled(await cancel(server.url, wire, reached.promise));
    await gone.promise;
  });

  Deno.test(`${wire}: who stops listening ends the request`, async () => {
    await using server = await ModelServer.start("say Half\nwait here\nsay never");
    for await (const event of stream(server.url, { wire, timeout: 3_600 })) {
      assert.equal(event.type, "deltas");
      break;
    }
    assert.ok((await within(2_000, server.aborted())).done);
  });
}

Deno.test("a cancel after the end changes nothing, and no timer is left", async () => {
  await using server = await ModelServer.start(`say Fine`);
  const controller = new AbortController();
  const { end } = await listen(server.url, { signal: controller.signal, key: KEY });
  controller.abort();
  assert.equal(end, "done");
});
