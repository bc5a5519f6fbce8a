/** Tokens of a prompt: as counted, else estimated. */
import assert from "node:assert/strict";
import fc from "fast-check";
import { Prompt } from "../log/model_request.ts";
import { allOf, Estimate, sizesOf } from "./estimate.ts";

Deno.test("before an answer three bytes are a token, then what the provider has counted", () => {
  const estimate = new Estimate();
  assert.equal(estimate.tokens(3_000), 1_000);
  estimate.learn(3_000, 600);
  assert.equal(estimate.tokens(3_000), 600);
  // What is new may be denser.
  assert.equal(estimate.tokens(6_000), 1_600);
  assert.equal(estimate.tokens(1_500), 300);
  estimate.learn(3_000, 2_000);
  assert.equal(estimate.tokens(6_000), 4_000);
});

Deno.test("a provider that counts only what was not in its cache is not believed", () => {
  const estimate = new Estimate();
  estimate.learn(90_000, 30_000);
  estimate.learn(91_000, 500);
  assert.equal(estimate.tokens(90_000), 30_000);
});

Deno.test("a refused prompt takes the whole window at least", () => {
  const estimate = new Estimate();
  estimate.refused(30_000, 20_000);
  assert.equal(estimate.tokens(30_000), 20_000);
});

Deno.test("what is said to fit does, whatever was counted before", () => {
  fc.assert(fc.property(fc.nat(1_000_000), fc.nat(500_000), fc.nat(200_000), (bytes, input, room) => {
    const estimate = new Estimate();
    estimate.learn(bytes, input);
    assert.ok(estimate.tokens(estimate.bytes(room)) <= room + 1);
    assert.ok(estimate.tokens(bytes + estimate.bytes(room)) <= estimate.tokens(bytes) + room + 1);
  }));
});

Deno.test("sizes: each kind by itself, characters of several bytes and images too", () => {
  const image = { name: "a.png", type: "image/png", data: "x".repeat(500_000) } as const;
  const sizes = sizesOf(
    new Prompt("äöü", [
      { role: "user", text: "x".repeat(1_000) },
      {
        role: "assistant",
        text: "",
        calls: [{ id: "c1", name: "t", arguments: "x".repeat(500) }],
        reasoning: [],
      },
      { role: "tool", id: "c1", name: "t", text: "x".repeat(2_000), isError: false, images: [image] },
    ], [{ name: "t", description: "x".repeat(100), parameters: {} }]),
  );
  assert.equal(sizes.system, 6);
  assert.ok(sizes.tools > 100 && sizes.tools < 200);
  assert.ok(sizes.messages > 1_500 && sizes.messages < 1_800);
  assert.ok(sizes.results > 6_800 && sizes.results < 7_000);
  assert.equal(allOf(sizes), sizes.system + sizes.tools + sizes.messages + sizes.results);
});
