/**
 * Plays of hostile agents: messages that are none, and lives that end badly. The engine lives, its memory and time are bounded, its texts are clean, the session
 * continues with the next message, and nothing is kept that nobody allowed.
 */
import assert from "node:assert/strict";
import { isDeceptive } from "../../policy/deceptive.ts";
import { type HostilePlay, permission, playHostile } from "../../../../tests/support/foreign/hostile.ts";
import { AgentError, OPTIONS } from "../../../../tests/support/foreign/in_memory.ts";
import { linesOf } from "../../../../tests/support/foreign/session.ts";

const MESSAGES: readonly HostilePlay[] = [
  { name: "text that is not JSON", turn: (_, hand) => hand.raw("hello\n{]\n\n\u0000\n") },
  { name: "JSON that is no message", turn: (_, hand) => hand.raw('7\n"x"\n[]\nnull\n{}\n') },
  { name: "invalid Unicode", turn: (_, hand) => hand.raw('\ufffd\ud800{"a":"\udc00"}\n') },
  { name: "answers to requests that nobody made", turn: (_, hand) => hand.send({ id: 4_711, result: {} }) },
  {
    name: "two answers to the same request",
    turn(_, hand) {
      for (let id = 0; id < 10; id++) hand.send({ id, result: { stopReason: "refusal" } });
    },
    end: "refused",
  },
  {
    name: "notifications of unknown methods",
    turn: (_, hand) => hand.send({ method: "evil/notify", params: {} }),
  },
  {
    name: "requests of unknown methods",
    async turn(_, hand) {
      const { error } = await hand.ask("terminal/create", { command: "rm", args: ["-rf", "/"] });
      hand.say(`refused: ${error !== undefined}`);
    },
    sees: "say refused: true",
  },
  {
    name: "reads and writes through the client",
    async turn(_, hand) {
      const read = await hand.ask("fs/read_text_file", { path: "/etc/passwd" });
      const write = await hand.ask("fs/write_text_file", { path: "a.txt", content: "evil" });
      hand.say(`refused: ${read.error !== undefined && write.error !== undefined}`);
    },
    sees: "say refused: true",
  },
  {
    name: "a line of 17 MB",
    turn(_, hand) {
      for (let part = 0; part < 17; part++) hand.raw("x".repeat(1e6));
      return new Promise<string>(() => {});
    },
    end: "Claude has ended: it sent a message of more than 16 MB.",
  },
  {
    name: "a message nested ten thousand levels deep",
    turn: (_, hand) =>
      hand.raw(`{"method":"session/update","params":${'{"a":'.repeat(1e4)}1${"}".repeat(1e4)}}\n`),
  },
  {
    name: "a flood of lines that are none",
    turn(_, hand) {
      for (let part = 0; part < 30; part++) hand.raw("{]\n".repeat(1_000));
      return new Promise<string>(() => {});
    },
    end: "Claude has ended: it sends too many useless messages.",
  },
  {
    name: "a hundred open requests at once",
    async turn(_, hand) {
      const asked = Array.from(
        { length: 100 },
        (_, at) => hand.permit({ ...permission, toolCallId: `p${at}` }),
      );
      const answers = await Promise.all(asked);
      hand.say(`refused: ${answers.filter((one) => one === "undefined").length}`);
    },
    // Answers come when everything was read.
    options: {
      ask: () => new Promise((resolve) => setTimeout(() => resolve({ answer: "allow_once" }), 0)),
    },
    sees: "say refused: 50",
  },
  {
    name: "requests with ids that are none",
    turn(_, hand) {
      for (const id of [null, {}, [], true]) {
        hand.send({ id, method: "session/request_permission", params: {} });
      }
    },
  },
  {
    name: "the same id for two requests",
    turn(_, hand) {
      const request = { id: "x", method: "session/request_permission" };
      for (let at = 0; at < 3; at++) {
        hand.send({
          ...request,
          params: { sessionId: hand.session, toolCall: permission, options: OPTIONS },
        });
      }
    },
  },
  {
    name: "keys of prototypes",
    turn: (_, hand) => hand.raw('{"__proto__":{"method":"x"},"constructor":1}\n'),
  },
];

const LIVES: readonly HostilePlay[] = [
  { name: "a turn that ends for an unknown reason", turn: () => "because" },
  {
    name: "a turn that says it was cancelled",
    turn: async (_, hand) => {
      await hand.change("echo evil > a.txt");
      return "cancelled";
    },
    end: "cancelled",
  },
  {
    name: "an answer to the prompt that is none",
    script: { answer: (method) => method === "session/prompt" ? "x" : undefined },
    check: () => {},
  },
  {
    name: "an error that is an essay",
    turn: () =>
      Promise.reject(new AgentError(-1, "no\n\u001b[0m".repeat(1e5), { details: "why ".repeat(1e5) })),
    end: "Claude failed: ",
    check: ({ events }) => {
      const failed = events.find((event) => event.type === "turn_failed");
      assert.ok(
        failed?.type === "turn_failed" && failed.message.length < 600 && !isDeceptive(failed.message),
      );
    },
  },
  {
    name: "an end in the middle of a line",
    turn(_, hand) {
      hand.raw('{"jsonrpc":"2.0","method":"sess');
      hand.exit("killed by SIGKILL");
      return new Promise<string>(() => {});
    },
    end: "Claude has ended: killed by SIGKILL. Your next message starts it again.",
  },
  {
    name: "no session",
    script: { answer: (method) => method === "session/new" ? { sessionId: 7 } : undefined },
    end: "Claude failed: it opened no session.",
    check: () => {},
  },
  {
    name: "a mode that it never enters",
    script: {
      opened: {
        modes: {
          currentModeId: "auto",
          availableModes: [{ id: "auto", name: "A" }, { id: "default", name: "D" }],
        },
      },
      answer(method, _, hand) {
        if (method !== "session/set_mode") return;
        hand.update({ sessionUpdate: "current_mode_update", currentModeId: "auto" });
        return {};
      },
    },
    options: { agent: { asking_mode: "default" } },
    sees: /^warning: Claude does not ask before it acts/,
  },
  {
    name: "modes and options that are none",
    script: {
      opened: {
        modes: { availableModes: 7 },
        configOptions: [7, { id: "model", category: "model", options: 7 }],
      },
    },
    options: { agent: { asking_mode: "default" } },
    sees: /^warning: Claude does not ask before it acts/,
  },
  {
    name: "capabilities that are none",
    script: { capabilities: { promptCapabilities: 7, sessionCapabilities: [], loadSession: "yes" } },
  },
  {
    name: "text after the end of its turn",
    turn: (_, hand) => void setTimeout(() => hand.say("Late"), 0),
    check: ({ events }) => assert.ok(linesOf(events).some((line) => /Late/.test(line))),
  },
];

playHostile([...MESSAGES, ...LIVES], 9);
