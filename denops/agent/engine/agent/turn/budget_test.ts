import assert from "node:assert/strict";
import { costOf, Spending } from "./budget.ts";

const usage = { input: 1_000_000, output: 100_000, cachedRead: 400_000, cachedWrite: 100_000 };

Deno.test("what a request costs, cached tokens at their own price", () => {
  assert.equal(costOf(usage, undefined), undefined);
  assert.equal(costOf(usage, { input: 2, output: 10 }), 3);
  assert.equal(costOf(usage, { input: 2, output: 10, cached_read: 0.5, cached_write: 4 }), 1 + 1 + 0.2 + 0.4);
});

Deno.test("over the long context a request costs twice as much to send, and half as much again to answer", () => {
  const price = { input: 2, output: 10, cached_read: 0.5, cached_write: 4, long_context: 1_000_000 };
  assert.equal(costOf(usage, price), 2.6);
  assert.equal(costOf({ ...usage, input: 1_000_001 }, { ...price, input: 0 }), 2 * (0.2 + 0.4) + 1.5);
});

Deno.test("a cap is reached, raised by itself, and reached again", () => {
  const spending = new Spending({ max_cost_per_session: 1 }, 0, "2026-01-01");
  spending.add(usage, 0.6, "2026-01-01");
  assert.equal(spending.reached(), undefined);
  spending.add(usage, 0.6, "2026-01-01");
  assert.match(spending.reached()?.text ?? "", /this session has cost 1\.20; the cap is 1\.00/);
  spending.raise("session");
  assert.equal(spending.reached(), undefined);
  spending.add(usage, 0.8, "2026-01-01");
  assert.equal(spending.reached()?.counter, "session");
  spending.raise("session");
  spending.add(usage, 1_000_000, "2026-01-01");
  spending.raise("session");
  assert.equal(spending.reached(), undefined);
  spending.add(usage, 1, "2026-01-01");
  assert.equal(spending.reached()?.counter, "session");
});

Deno.test("a turn's tokens begin anew with each turn, a day's money with each day", () => {
  const spending = new Spending({ max_tokens_per_turn: 1_000_000, max_cost_per_day: 2 }, 1.5, "2026-01-01");
  spending.add(usage, 0.4, "2026-01-01");
  assert.equal(spending.reached()?.counter, "turn");
  spending.beginTurn();
  assert.equal(spending.reached(), undefined);
  spending.add({ ...usage, input: 1 }, 0.2, "2026-01-01");
  assert.equal(spending.reached()?.counter, "day");
  spending.add({ ...usage, input: 1, output: 1 }, 0.2, "2026-01-02");
  assert.equal(spending.reached(), undefined);
});
