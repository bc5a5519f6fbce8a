/** Tokens and money of another agent's turns, in the tables of our own. */
import assert from "node:assert/strict";
import { foreignSession } from "../../../../tests/support/foreign/session.ts";
import { AgentError, type AgentHand } from "../../../../tests/support/foreign/in_memory.ts";
import { turnCost, usageIn } from "./turn_usage.ts";

Deno.test("the turns of another agent have their tokens, money, calls and times in the usage tables", async () => {
  const costs = [0.5, 0.75, 0.2];
  let turns = 0;
  const cost = (hand: AgentHand, amount: number, currency = "USD") =>
    hand.update({ sessionUpdate: "usage_update", used: 9_000, size: 200_000, cost: { amount, currency } });
  await using session = await foreignSession({
    async answer(method, _params, hand) {
      if (method !== "session/prompt") return undefined;
      hand.call("c1", { title: "Look", kind: "read", status: "completed" });
      hand.call("c2", { title: "Look", kind: "read", status: "completed" });
      const amount = costs[turns++];
      if (amount === undefined) cost(hand, 3, "credits");
      else cost(hand, amount);
      await Promise.resolve();
      const usage = { totalTokens: 1_350, inputTokens: 100, outputTokens: 50, cachedReadTokens: 1_200 };
      return turns === 2 ? { stopReason: "end_turn" } : { stopReason: "end_turn", usage };
    },
  }, { agent: { title: "Claude" } });
  const { usage } = session;
  for (const text of ["one", "two", "three", "four"]) await session.prompt(text);
  const { turns: rows, models } = usage.report(session.session.id);
  assert.deepEqual(
    rows.map(({ name, requests, unreported, input, output, cachedRead, cost, tools }) => ({
      ...{ name, requests, unreported, input, output, cachedRead, cost },
      tools: tools.map(({ name, count }) => `${name} ${count}`),
    })),
    [
      { name: "four", cost: undefined, unreported: 0, input: 1_300, output: 50, cachedRead: 1_200 },
      // The agent has begun to count again.
      { name: "three", cost: 0.2, unreported: 0, input: 1_300, output: 50, cachedRead: 1_200 },
      { name: "two", cost: 0.25, unreported: 1, input: 0, output: 0, cachedRead: 0 },
      { name: "one", cost: 0.5, unreported: 0, input: 1_300, output: 50, cachedRead: 1_200 },
    ].map((row) => ({ ...row, requests: 1, tools: ["claude_read 2"] })),
  );
  assert.deepEqual(models.map(({ name, requests }) => [name, requests]), [["claude/Claude", 4]]);
  assert.ok(rows.every(({ time }) => time !== undefined && time >= 0));
  // The agent builds its prompts.
  assert.ok(rows.every(({ prompt }) => prompt === undefined));
  usage.used(session.session.id, 4, "copied");
  assert.equal(usage.report(session.session.id).models[0]?.copied, 1);
});

Deno.test("the money of a turn is counted once, also after a restart; a missing login is no request", async () => {
  let amount = 0.5;
  await using session = await foreignSession({
    capabilities: { loadSession: true },
    turn(text, hand) {
      if (text === "locked") throw new AgentError(-32000, "Authentication required");
      hand.update({ sessionUpdate: "usage_update", used: 1, size: 2, cost: { amount, currency: "USD" } });
    },
  });
  await session.prompt("one");
  amount = 0.7;
  const again = await session.restart();
  await again.prompt([{ type: "text", text: "two" }]);
  await again.prompt([{ type: "text", text: "locked" }]);
  const { turns } = session.usage.report(again.id);
  assert.deepEqual(turns.map(({ name, cost }) => [name, cost?.toFixed(2)]), [["two", "0.20"], [
    "one",
    "0.50",
  ]]);
});

Deno.test("above a cap of money the user is asked once before the next turn, however much the agent reports", async () => {
  const prompts: string[] = [];
  const reasons: string[] = [];
  let total = 1_000_000;
  await using session = await foreignSession({
    turn(text, hand) {
      prompts.push(text);
      hand.update({
        sessionUpdate: "usage_update",
        used: 1,
        size: 2,
        cost: { amount: total++, currency: "USD" },
      });
    },
  }, {
    config: { max_cost_per_session: 1 },
    ask({ reason, access: { kind } }) {
      if (kind === "ask") reasons.push(reason);
      return { answer: reasons.length === 1 ? "allow_once" : "reject" };
    },
  });
  for (const text of ["one", "two", "three"]) await session.prompt(text);
  assert.deepEqual(prompts, ["one", "two"]);
  assert.equal(reasons.length, 2);
  assert.match(reasons[0] ?? "", /^this session has cost 1000000\.00; the cap is 1\.00/);
});

Deno.test("tokens are read as any agent counts them, and hostile numbers are none", () => {
  const beside = { inputTokens: 100, outputTokens: 50, cachedReadTokens: 800, cachedWriteTokens: 40 };
  assert.deepEqual(usageIn(beside), { input: 940, output: 50, cachedRead: 800, cachedWrite: 40 });
  const among = { totalTokens: 1_050, inputTokens: 1_000, outputTokens: 50, cachedReadTokens: 800 };
  assert.deepEqual(usageIn(among), { input: 1_000, output: 50, cachedRead: 800, cachedWrite: 0 });
  const thoughts = { totalTokens: 170, inputTokens: 100, outputTokens: 50, thoughtTokens: 20 };
  assert.equal(usageIn(thoughts)?.output, 70);
  assert.equal(usageIn({ ...thoughts, totalTokens: 150 })?.output, 50);
  for (
    const odd of [undefined, null, 7, {}, { inputTokens: -1, outputTokens: 2 }, {
      inputTokens: "7",
      outputTokens: 1,
    }]
  ) {
    assert.equal(usageIn(odd), undefined);
  }
  assert.deepEqual(usageIn({ inputTokens: 1, outputTokens: 2, cachedReadTokens: 1e300 }), {
    ...{ input: 1, output: 2, cachedRead: 0, cachedWrite: 0 },
  });
  assert.deepEqual([turnCost(undefined, 1), turnCost(2, undefined), turnCost(2, 1.5), turnCost(1, 2)], [
    undefined,
    2,
    0.5,
    1,
  ]);
});
