/** What the log of requests keeps, and for how long. */
import assert from "node:assert/strict";
import { WireLog } from "./wire_log.ts";

const MB = 1_000_000;
const bytes = (length: number) => new Uint8Array(length).fill(120);

function send(log: WireLog, body: string) {
  return log.send({ url: "http://host.test/", headers: {}, body }, []);
}

/** Sizes of the bodies that are kept, "-" for none. */
function sizes(log: WireLog): readonly string[] {
  return log.exchanges.map(({ body, answer }) =>
    [body?.length, answer === undefined ? undefined : answer.body.length].map((size) => size ?? "-").join("/")
  );
}

Deno.test("the newest texts of a turn are kept up to a limit, and the next turn begins anew", () => {
  const log = new WireLog();
  const first = send(log, "x".repeat(2 * MB));
  first.answered(new Response(null, { status: 200 }));
  first.read(bytes(MB));
  assert.deepEqual(sizes(log), [`${2 * MB}/${MB}`]);
  const second = send(log, "x".repeat(2 * MB));
  second.answered(new Response(null, { status: 200 }));
  second.read(bytes(MB));
  assert.deepEqual(sizes(log), ["-/0", `${2 * MB}/${MB}`], "the oldest goes first");
  assert.equal(log.exchanges[0]?.answer?.isCut, true);
  second.read(bytes(2 * MB));
  second.read(bytes(1));
  assert.deepEqual([sizes(log).at(-1), log.exchanges.at(-1)?.answer?.isCut], [`${2 * MB}/${MB}`, true]);
  send(log, "x".repeat(5 * MB));
  assert.deepEqual(sizes(log), ["-/0", "-/0", "-/-"]);
  log.begin();
  assert.deepEqual(sizes(log), []);
  second.read(bytes(MB));
  send(log, "x".repeat(4 * MB));
  assert.deepEqual(sizes(log), [`${4 * MB}/-`], "an earlier turn's answer takes no room");
  for (let at = 0; at < 1_000; at++) send(log, "x");
  assert.equal(log.exchanges.length, 200);
});
