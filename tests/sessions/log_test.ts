/** What the user has said, and what is told to the model beside it, are never taken for each other. */
import assert from "node:assert/strict";
import { startEngine } from "../support/engine_session.ts";
import { WIRES } from "../../denops/agent/protocol/providers.ts";
import { exportJson, exportMarkdown } from "../../denops/agent/engine/acp/export/export.ts";
import { history } from "../../denops/agent/engine/acp/history.ts";
import { MODES } from "../../denops/agent/engine/context/modes.ts";
import { view } from "../../denops/agent/engine/context/view.ts";
import type { MessageEntry } from "../../denops/agent/engine/log/entries.ts";
import { StoredSessions } from "../../denops/agent/engine/store/sessions.ts";

Deno.test("a file that is handed over, and the engine's notes, are for the model: nobody reads them as the user's", async () => {
  const uri = "file:///elsewhere/secretive.txt";
  await using engine = await startEngine({
    config: { title: false },
    script: [
      "expect Contents of file:///elsewhere/secretive.txt\nexpect zebra\nexpect Look at it\n" +
      'call write_file {"path": "b.txt", "content": "x"}',
      "say Cut off\nstop length",
      "expect Continue exactly where you stopped\nsay Done.",
      "expect The user has taken back changes\nexpect Now this\nsay Yes.",
    ].join("\n---\n"),
  });
  await engine.session.prompt([
    { type: "file", uri, text: "zebra" },
    { type: "link", uri: "file:///elsewhere/linked.txt" },
    { type: "text", text: "Look at it" },
  ]);
  await engine.session.takeBack({ kind: "undo", turn: undefined });
  await engine.prompt("Now this");
  assert.deepEqual(engine.server.problems, []);
  const sessions = new StoredSessions(engine.database);
  const session = sessions.get("s1");
  assert.equal(session.title, "Look at it");
  assert.deepEqual(engine.session.turnsBegun(1, 2).map(({ text }) => text), ["Look at it", "Now this"]);
  for (const word of ["zebra", "secretive", "linked", "Continue exactly", "taken back"]) {
    assert.deepEqual(sessions.search(word, 5), [], word);
  }
  assert.deepEqual(sessions.search("look at", 5).map(({ role }) => role), ["user"]);
  const shown = JSON.stringify(
    history(engine.store, "s1", { first: 1, last: 2 }, { notices: true, extensions: new Set() }),
  );
  const markdown = exportMarkdown(engine.store, session).text;
  for (const text of [shown, markdown]) {
    assert.ok(text.includes("Look at it") && text.includes("Now this"));
    assert.doesNotMatch(text, /zebra|linked|<mode|Continue exactly|taken back/);
  }
  // Who exports the log gets all of it, told apart.
  const { entries } = JSON.parse(exportJson(engine.store, session).text);
  const notes = entries.filter(({ type }: MessageEntry) => type === "control_note");
  assert.deepEqual(notes.map(({ turn, reason }: { turn: number; reason: string }) => [turn, reason]), [
    [1, "mode"],
    [1, "output_limit"],
    [2, "files"],
  ]);
});

for (const wire of WIRES) {
  Deno.test(`${wire}: messages that were lost are told in one line, and the session goes on`, async () => {
    await using engine = await startEngine({
      wire,
      files: { "a.txt": "alpha\n" },
      config: { title: false },
      script:
        'say I look.\ncall read_file {"path": "a.txt"}\n---\nsay Read.\n---\nexpect Go on\nsay Yes.\nnew-history',
    });
    await engine.prompt("Read it");
    engine.database.run("UPDATE turns SET log = x'00'");
    const again = engine.again();
    assert.deepEqual(await again.prompt([{ type: "text", text: "Go on" }]), {
      type: "stopped",
      reason: "end_turn",
    });
    await again.close();
    assert.deepEqual(engine.server.problems, []);
    const notices = engine.events.flatMap((event) => event.type === "notice" ? [event.text] : []);
    assert.deepEqual(notices, ["A part of this session cannot be read; the model continues without it."]);
  });
}

const inputs = { environment: { roots: ["/project"], os: "linux" }, tools: [] };

Deno.test("a view gives every call its result, and no result without its call", () => {
  const call = (id: string) => ({ id, name: "think", arguments: "{}" });
  const answer = (...ids: string[]) =>
    ({ type: "assistant_message", text: "", calls: ids.map(call), reasoning: [] }) as const;
  const result = (id: string) =>
    ({ type: "tool_result", id, name: "think", text: `result of ${id}`, isError: false }) as const;
  const note = { type: "control_note", reason: "unreadable", text: "lost" } as const;
  const log: readonly MessageEntry[] = [
    { type: "user_message", origin: "user", parts: [{ type: "text", text: "Go" }] },
    result("0"),
    answer("1", "2", "3"),
    ...[result("3"), note, result("1")],
    answer(),
  ];
  const { messages } = view(log, MODES.agent, inputs);
  assert.deepEqual(messages.map((message) => message.role === "tool" ? message.id : message.role), [
    ...["user", "assistant", "1", "2", "3", "user", "assistant"],
  ]);
  assert.match(messages[3]?.text ?? "", /^Interrupted before it had ended/);
});
