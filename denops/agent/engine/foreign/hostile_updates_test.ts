/**
 * Plays of hostile agents: updates and permissions that lie. The engine lives, its memory and time are bounded, its texts are clean, the session
 * continues with the next message, and nothing is kept that nobody allowed.
 */
import assert from "node:assert/strict";
import {
  chunk,
  content,
  done,
  type HostilePlay,
  permission,
  playHostile,
  text,
} from "../../../../tests/support/foreign/hostile.ts";
import { OPTIONS } from "../../../../tests/support/foreign/in_memory.ts";

const UPDATES: readonly HostilePlay[] = [
  {
    name: "updates of another session",
    turn: (_, hand) => hand.update(chunk(text("stolen")), "not-mine"),
    hides: /stolen/,
  },
  {
    name: "updates without a session, a kind or fields",
    turn(_, hand) {
      hand.send({ method: "session/update", params: { update: chunk(text("stolen")) } });
      hand.send({ method: "session/update" });
      hand.send({ method: "session/update", params: [] });
      for (
        const update of [{}, { sessionUpdate: 7 }, { sessionUpdate: "evil" }, { sessionUpdate: "tool_call" }]
      ) {
        hand.update(update);
      }
    },
    hides: /stolen/,
  },
  {
    name: "fields of the wrong types",
    turn(_, hand) {
      hand.update({ sessionUpdate: "agent_message_chunk" });
      hand.update(chunk({ type: "text", text: 7 }));
      hand.update(chunk("text"));
      hand.update({ sessionUpdate: "plan", entries: 7 });
      hand.update({ sessionUpdate: "plan", entries: [7, {}, { content: [] }] });
      hand.update({ sessionUpdate: "usage_update", used: "x", size: null });
      hand.update({ sessionUpdate: "usage_update", used: -1, size: 1e300 });
      hand.update({ sessionUpdate: "available_commands_update", availableCommands: {} });
      hand.update({ sessionUpdate: "current_mode_update", currentModeId: {} });
      hand.update({ sessionUpdate: "config_option_update", configOptions: "x" });
      hand.update({ sessionUpdate: "session_info_update", title: 7 });
      hand.update({ sessionUpdate: "notice", title: {} });
    },
  },
  {
    name: "calls whose fields have the wrong types",
    turn(_, hand) {
      hand.call("c1", { title: 7, kind: [], status: {}, content: 7, locations: "x", rawInput: 7, _meta: [] });
      hand.more("c1", {
        status: "completed",
        content: [7, null, {}, { type: "content" }, { type: "diff", path: 7 }],
        locations: [7, {}, { path: 7 }, { path: "a.txt", line: -1 }, { path: "a.txt", line: 1.5 }],
        rawOutput: { output: 7, exit_code: "x" },
      });
    },
    sees: /^completed: /,
  },
  {
    name: "escape sequences and invisible characters",
    turn(_, hand) {
      hand.say("\u001b[31mred\u001b[0m \u202eevil\u0007");
      hand.think("\u001b]0;title\u0007thought");
      done(hand, { title: "Ru\u001b[2Jn\nrm\u202e", content: content(text("\u001b[1mout\u0000")) });
      hand.update({ sessionUpdate: "notice", severity: "error", title: "\u001b[5mblink\u200b" });
      hand.update({
        sessionUpdate: "plan",
        entries: [{ content: "st\u001b[0mep\u202e", status: "pending" }],
      });
    },
    sees: "say red evil",
  },
  {
    name: "a title of many lines and characters",
    turn: (_, hand) => done(hand, { title: "a\n".repeat(100_000) }),
    check: ({ events }) => {
      const titles = events.flatMap((event) => event.type === "tool_start" ? [event.call.title] : []);
      assert.ok(titles.every((title) => title.length <= 300 && !title.includes("\n")));
    },
  },
  {
    name: "arguments of a megabyte",
    async turn(_, hand) {
      await hand.permit({ ...permission, rawInput: { command: "x".repeat(1e6), more: ["y".repeat(1e6)] } });
    },
    check: ({ asked }) => assert.ok(JSON.stringify(asked).length < 20_000),
  },
  {
    name: "arguments of ten thousand words",
    async turn(_, hand) {
      await hand.permit({ ...permission, rawInput: { command: Array.from({ length: 1e4 }, () => "word") } });
    },
    check: ({ asked }) => assert.ok(JSON.stringify(asked).length < 20_000),
  },
  {
    name: "a call that is never begun",
    turn: (_, hand) => hand.more("c9", { status: "completed" }),
    sees: "completed: done",
  },
  {
    name: "a status that goes back",
    turn(_, hand) {
      done(hand, { title: "One" });
      hand.more("c1", { status: "in_progress", title: "Two" });
      hand.more("c1", { status: "failed" });
      hand.call("c1", { status: "pending", title: "Three" });
    },
    hides: /Two|Three|^failed/,
  },
  {
    name: "calls that never end",
    turn(_, hand) {
      for (let at = 0; at < 5; at++) hand.call(`c${at}`, { status: "in_progress" });
      hand.call("late", { status: "pending" });
    },
    sees: "failed: stopped",
  },
  {
    name: "two thousand calls",
    turn(_, hand) {
      for (let at = 0; at < 2_000; at++) hand.call(`c${at}`, { status: "completed" });
    },
    sees: "warning: Claude makes more than 1000 calls; the others are not shown.",
    check: ({ events }) => assert.equal(events.filter(({ type }) => type === "tool_start").length, 1_000),
  },
  {
    name: "ten thousand updates of one call",
    turn(_, hand) {
      hand.call("c1", { status: "in_progress" });
      for (let at = 0; at < 10_000; at++) hand.more("c1", { title: `t${at}`, status: "in_progress" });
      hand.more("c1", { status: "completed" });
    },
    check: ({ events }) => assert.ok(events.length < 20, `${events.length} events`),
  },
  {
    name: "ten thousand usages",
    turn(_, hand) {
      for (let used = 0; used < 10_000; used++) {
        hand.update({ sessionUpdate: "usage_update", used, size: 2e5 });
      }
    },
    check: ({ events }) => assert.ok(events.filter(({ type }) => type === "usage").length < 50),
  },
  {
    name: "ten thousand notices",
    turn(_, hand) {
      for (let at = 0; at < 10_000; at++) {
        hand.update({ sessionUpdate: "notice", severity: "warning", title: `n${at}` });
      }
    },
    check: ({ events }) => assert.ok(events.filter(({ type }) => type === "notice").length <= 21),
  },
  {
    name: "fifty thousand pieces of text",
    turn(_, hand) {
      for (let at = 0; at < 50_000; at++) hand.say("x ");
    },
    check: ({ events }) => assert.ok(events.length < 1_000, `${events.length} events`),
  },
  {
    name: "five megabytes of text",
    turn(_, hand) {
      for (let at = 0; at < 50; at++) hand.say("x".repeat(100_000));
    },
    sees: "warning: Claude says more than 1000000 characters; the rest is not shown.",
    check: ({ events }) => assert.ok(JSON.stringify(events).length < 3e6),
  },
  {
    name: "five megabytes of thoughts",
    turn(_, hand) {
      for (let at = 0; at < 50; at++) hand.think("x".repeat(100_000));
    },
    check: ({ events }) => assert.ok(JSON.stringify(events).length < 3e6),
  },
  {
    name: "output of ten megabytes",
    turn(_, hand) {
      hand.call("c1", { status: "in_progress" });
      for (let at = 0; at < 100; at++) {
        hand.more("c1", { _meta: { terminal_output_delta: { data: "x".repeat(100_000) } } });
      }
      hand.more("c1", { status: "completed" });
      hand.call("c2", { status: "completed", content: content(text("y".repeat(3e6))) });
      hand.call("c3", { status: "completed", rawOutput: "z".repeat(3e6) });
    },
    check: ({ events }) => assert.ok(JSON.stringify(events).length < 1e6),
  },
  {
    name: "a diff of ten megabytes, and a hundred diffs",
    turn(_, hand) {
      const diff = (path: string, size: number) => ({
        type: "diff",
        path,
        oldText: "a",
        newText: "b".repeat(size),
      });
      hand.call("c1", { status: "completed", content: [diff("a.txt", 1e7)] });
      const many = Array.from({ length: 100 }, (_, at) => diff(`f${at}`, 10));
      hand.call("c2", { status: "completed", content: many });
    },
    check: ({ events }) => assert.ok(JSON.stringify(events).length < 1e5),
  },
  {
    name: "images, audio and resources that are none",
    turn(_, hand) {
      hand.update(chunk({ type: "image", mimeType: "image/png", data: "!!!" }));
      hand.update(chunk({ type: "audio", data: 7 }));
      hand.update(
        chunk({ type: "resource", resource: { uri: "file:///etc/passwd", blob: "x".repeat(1e6) } }),
      );
      done(hand, { content: content({ type: "image", data: "x".repeat(1e6) }, { type: "evil" }, {}) });
    },
    check: ({ events }) => assert.ok(JSON.stringify(events).length < 1e5),
  },
  {
    name: "a plan of ten thousand steps",
    turn: (_, hand) =>
      hand.update({
        sessionUpdate: "plan",
        entries: Array.from(
          { length: 1e4 },
          (_, at) => ({ content: `s${at}`.repeat(1_000), status: "evil" }),
        ),
      }),
    check: ({ events }) => assert.ok(JSON.stringify(events).length < 2e5),
  },
  {
    name: "commands of hostile names",
    turn: (_, hand) =>
      hand.update({
        sessionUpdate: "available_commands_update",
        availableCommands: [
          { name: "../x" },
          { name: "a b" },
          { name: "\u001b[0m" },
          ...Array(1e4).fill({ name: "x" }),
        ],
      }),
  },
  {
    name: "locations outside of the project",
    async turn(_, hand) {
      hand.say(
        await hand.permit({
          ...permission,
          kind: "edit",
          locations: [{ path: "/etc/passwd" }, { path: "../../x" }, { path: "\u0000" }, { path: "a.txt" }],
        }),
      );
    },
    check: ({ asked: [request] }) => {
      const { access } = request ?? assert.fail("nothing was asked");
      assert.ok(access.kind === "foreign");
      assert.deepEqual(access.files?.map(({ path }) => path.relative), ["a.txt"]);
    },
  },
  {
    name: "a call below itself, and one below none",
    turn(_, hand) {
      hand.call("c1", { status: "completed", _meta: { claudeCode: { parentToolUseId: "c1" } } });
      hand.call("c2", { status: "completed", _meta: { claudeCode: { parentToolUseId: "gone" } } });
    },
    hides: /^ /,
  },
];

const PERMISSIONS: readonly HostilePlay[] = [
  {
    name: "only options that allow",
    async turn(_, hand) {
      hand.say(await hand.permit(permission, [{ optionId: "a", name: "Yes", kind: "allow_always" }]));
    },
    sees: "say cancelled",
  },
  {
    name: "options without ids, kinds or names",
    async turn(_, hand) {
      hand.say(`${await hand.permit(permission, [{}, { optionId: 7 }])}`);
    },
    sees: "say undefined",
  },
  {
    name: "no options",
    async turn(_, hand) {
      hand.say(await hand.permit(permission, []));
    },
    sees: "say cancelled",
  },
  {
    name: "a refused call that is done all the same",
    async turn(_, hand) {
      hand.say(await hand.permit({ ...permission, locations: [{ path: "a.txt" }] }));
      await hand.change("echo evil > a.txt");
      hand.more("p1", { status: "completed" });
    },
    options: { ask: () => ({ answer: "reject" }) },
    sees: "say no",
  },
  {
    name: "changes without a word",
    turn: async (_, hand) => await hand.change("echo evil > a.txt; echo x > .env"),
    sees: /^ask: Claude would make 2 changes/,
  },
  {
    name: "a permission for a call that has ended",
    async turn(_, hand) {
      done(hand, {});
      hand.say(await hand.permit({ ...permission, toolCallId: "c1" }));
    },
    sees: "say cancelled",
    check: ({ asked }) => assert.deepEqual(asked, []),
  },
  {
    name: "a permission of another session",
    async turn(_, hand) {
      const { error } = await hand.ask("session/request_permission", {
        sessionId: "not-mine",
        toolCall: permission,
        options: OPTIONS,
      });
      hand.say(`refused: ${error !== undefined}`);
    },
    sees: "say refused: true",
    check: ({ asked }) => assert.deepEqual(asked, []),
  },
  {
    name: "a permission between two turns",
    turn(_, hand) {
      setTimeout(() => hand.permit(permission), 0);
    },
    check: ({ asked }) => assert.deepEqual(asked, []),
  },
  {
    name: "a question with a thousand options",
    async turn(_, hand) {
      const options = Array.from({ length: 1_000 }, (_, at) => ({
        optionId: `o${at}`,
        name: `Option ${at}`.repeat(100),
        kind: "allow_once",
      }));
      hand.say(await hand.permit(permission, options));
    },
    options: {
      questions: {
        ask(_, names) {
          assert.ok(names.length <= 20 && names.every((name) => name.length <= 100));
          return Promise.resolve(undefined);
        },
      },
    },
    sees: "say cancelled",
  },
  {
    name: "a permission that still waits when the turn ends",
    turn(_, hand) {
      hand.permit(permission);
    },
    options: {
      ask: (_, signal) =>
        new Promise((resolve) => signal.addEventListener("abort", () => resolve({ answer: "cancelled" }))),
    },
  },
];

playHostile([...UPDATES, ...PERMISSIONS], 11);
