/** Plays of hostile agents, each in a session of the real engine. */
import assert from "node:assert/strict";
import { isDeceptive } from "../../../denops/agent/policy/deceptive.ts";
import type { TurnEnd } from "../../../denops/agent/engine/agent/turn/runner.ts";
import { checkEvents, END_TURN } from "../engine_session.ts";
import { sample } from "../sample.ts";
import type { AgentHand, AgentScript, Message } from "./in_memory.ts";
import { type ForeignSession, foreignSession, type ForeignSessionOptions, linesOf } from "./session.ts";

export interface HostilePlay {
  readonly name: string;
  /** The first turn. */
  readonly turn?: AgentScript["turn"];
  /** Beside the turn. */
  readonly script?: Omit<AgentScript, "turn">;
  readonly options?: ForeignSessionOptions;
  /** The end of the first turn: its reason, or a part of its error. Default: "end_turn". */
  readonly end?: string;
  /** A line that the user sees. */
  readonly sees?: string | RegExp;
  /** A line that the user does not see. */
  readonly hides?: RegExp;
  readonly check?: (session: ForeignSession) => void | Promise<void>;
}

export const content = (...blocks: readonly unknown[]) =>
  blocks.map((block) => ({ type: "content", content: block }));
export const text = (value: unknown) => ({ type: "text", text: value });
export const chunk = (block: unknown) => ({ sessionUpdate: "agent_message_chunk", content: block });
export function done(hand: AgentHand, fields: Message): void {
  hand.call("c1", { status: "in_progress" });
  hand.more("c1", { status: "completed", ...fields });
}
export const permission = { toolCallId: "p1", title: "Run", kind: "execute" };

/** Everything that a screen shows of an event. */
function isClean(session: ForeignSession): void {
  for (const event of session.events) {
    if (event.type === "turn_files" || event.type === "user_message") continue;
    const found = JSON.stringify(event, (_, value) => {
      if (typeof value === "string") {
        assert.ok(!isDeceptive(value), `not clean: ${JSON.stringify(value).slice(0, 200)}`);
      }
      return value;
    });
    assert.ok(found.length < 2e6);
  }
}

function endOf(end: TurnEnd): string {
  return end.type === "stopped" ? end.reason : end.error.message;
}

/** One test for each. @param count of those that a run of the whole suite plays */
export function playHostile(plays: readonly HostilePlay[], count: number): void {
  for (const { name, turn, script, options, end = "end_turn", sees, hides, check } of sample(plays, count)) {
    Deno.test(`a hostile agent: ${name}`, async () => {
      let turns = 0;
      await using session = await foreignSession({
        ...script,
        async turn(text, hand, blocks) {
          turns += 1;
          if (turns === 1) return await turn?.(text, hand, blocks);
          hand.say("Alive");
        },
      }, {
        ask: ({ access }) =>
          access.kind === "foreign"
            ? { answer: "allow_once", rule: "held by the sandbox" }
            : { answer: "reject" },
        ...options,
      });
      const first = endOf(await session.prompt("Go"));
      assert.ok(first.startsWith(end), first);
      const hasTurn = turns > 0;
      if (hasTurn) {
        assert.deepEqual(await session.prompt("And now?"), END_TURN);
        assert.ok(linesOf(session.events).some((line) => /^say (Late)?Alive$/.test(line)));
      }
      checkEvents(session.events);
      isClean(session);
      const lines = linesOf(session.events);
      const isSeen = (line: string) => typeof sees === "string" ? line === sees : sees?.test(line);
      if (sees !== undefined) assert.ok(lines.some(isSeen), lines.join("\n"));
      if (hides !== undefined) assert.deepEqual(lines.filter((line) => hides.test(line)), []);
      assert.equal(await session.project.read("a.txt"), "one\ntwo\n");
      assert.equal(session.agent.waiting, 0);
      await check?.(session);
    });
  }
}
