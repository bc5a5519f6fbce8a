/** The plugin as an ACP agent: sessions, turns, permissions and choices, as any client sees them. */
import assert from "node:assert/strict";
import { methods } from "../../denops/agent/deps/acp_sdk.ts";
import { storedSessions } from "../../denops/agent/supervisor/sessions/stored_sessions.ts";
import { waitForNone } from "../support/processes.ts";
import { waitUntil } from "../support/project.ts";
import { ALLOW, answerText, calls, REJECT, selected } from "./client.ts";
import { test } from "./shared_acp.ts";

const { session } = methods.agent;

test("a turn: thoughts, a plan, kinds, lines, diffs and a command's output as it runs", async (acp) => {
  acp.play({
    script:
      'think Let me see.\nsay I change it.\ncall plan {"steps": [{"step": "Edit", "status": "in_progress"}]}\n' +
      'call read {"path": "src/a.ts"}\n---\n' +
      'call edit {"path": "src/a.ts", "old_str": "two = 2", "new_str": "two = 3"}\n---\n' +
      'call run {"command": "echo begun; while [ ! -e go ]; do sleep 0.05; done; echo ended", "access": "look"}\n' +
      "---\nsay Done.",
  });
  const { sessionId, modes, configOptions } = await acp.open();
  assert.equal(modes?.currentModeId, "agent");
  assert.deepEqual(configOptions?.map(({ id }) => id), ["mode", "model", "effort", "permission"]);
  const turn = acp.prompt(sessionId, "Change two");
  await waitUntil(
    "the running command's output",
    () =>
      calls(acp.seen, sessionId).some(({ kind, status, content }) =>
        kind === "execute" && status === "in_progress" && JSON.stringify(content ?? []).includes("begun")
      ),
  );
  await acp.project.write("go", "");
  assert.equal(await turn, "end_turn");
  assert.equal(await acp.project.read("src/a.ts"), "const one = 1;\nconst two = 3;\n");
  const [, read, edit, run] = calls(acp.seen, sessionId);
  const path = acp.project.path("src/a.ts");
  assert.equal(read?.kind, "read");
  assert.deepEqual([edit?.kind, edit?.status, edit?.locations], ["edit", "completed", [{ path, line: 2 }]]);
  assert.deepEqual(edit?.content, [{
    type: "diff",
    path,
    oldText: "const one = 1;\nconst two = 2;\n",
    newText: "const one = 1;\nconst two = 3;\n",
  }]);
  assert.match(JSON.stringify(run?.content), /begun.*ended/);
  const kinds = acp.seen.map(({ update }) => update.sessionUpdate);
  for (const kind of ["agent_thought_chunk", "plan", "usage_update", "available_commands_update"]) {
    assert.ok(kinds.some((one) => one === kind), kind);
  }
  assert.equal(answerText(acp.seen, sessionId), "I change it.Done.");
  // The turn is in the database, where Neovim finds it too.
  const [stored] = await storedSessions(acp.state.root);
  assert.deepEqual([stored?.sessionId, stored?.turns], [sessionId, 1]);
});

test("the user allows, rejects or always allows; rules answer first", async (acp) => {
  const write = (path: string) => `call write {"path": "${path}", "content": "new\\n"}\n---\n`;
  acp.play({
    script: `${write("docs/a.md")}${write("docs/b.md")}expect The user rejected\n${write("locked.txt")}` +
      "expect denied by rule write(locked.txt)\n" +
      `${write("docs/f.md")}expect the client's answer was not understood\nsay Done.`,
    permission: ({ toolCall }) => {
      if (toolCall.title?.includes("f.md")) return Promise.resolve(selected("nonsense"));
      return Promise.resolve(toolCall.title?.includes("a.md") ? ALLOW : REJECT);
    },
  });
  const sessionId = await acp.opened();
  assert.equal(await acp.prompt(sessionId, "Write"), "end_turn");
  assert.equal(acp.permissions.length, 3);
  assert.equal(await acp.project.read("docs/a.md"), "new\n");
  for (const path of ["docs/b.md", "docs/f.md", "locked.txt"]) await assert.rejects(acp.project.read(path));
  const [request] = acp.permissions;
  assert.equal(request?.toolCall.kind, "edit");
  assert.deepEqual(request?.toolCall.content?.find(({ type }) => type === "diff"), {
    type: "diff",
    path: acp.project.path("docs/a.md"),
    oldText: null,
    newText: "new\n",
  });
  assert.deepEqual(request?.options.map(({ kind }) => kind).slice(0, 2), ["allow_once", "allow_always"]);
  assert.equal(request?.options.at(-1)?.kind, "reject_once");
});

test("a command's changes are asked about, and all of them are kept only if the user says so", async (acp) => {
  const command = (line: string) => `call run {"command": "${line}", "access": "write"}\n---\n`;
  acp.play({
    script: `${command("echo x > plain.txt")}${command("echo x > .envrc; echo x > other.txt")}${
      command("uname")
    }say Done.`,
    permission: ({ options }) =>
      Promise.resolve(
        options.some(({ optionId }) => optionId === "allow_all") ? selected("allow_all") : ALLOW,
      ),
  });
  const sessionId = await acp.opened();
  assert.equal(await acp.prompt(sessionId, "Run them"), "end_turn");
  const texts = acp.permissions.map(({ toolCall }) => JSON.stringify(toolCall.content));
  assert.match(texts[0] ?? "", /exit code 0\.\\n/);
  assert.doesNotMatch(texts[0] ?? "", /Asks because/);
  assert.match(texts[1] ?? "", /Asks because: one change is sensitive/);
  assert.ok(texts[2]?.includes(`In \`${acp.project.root}\`. Asks because: rule run(uname) asks.`), texts[2]);
  for (const path of ["plain.txt", ".envrc", "other.txt"]) assert.equal(await acp.project.read(path), "x\n");
});

test("an answer for the session holds for it", async (acp) => {
  acp.play({
    script: 'call write {"path": "docs/e.md", "content": "one\\n"}\n---\n' +
      'call write {"path": "docs/e.md", "content": "two\\n"}\n---\nsay Done.',
    permission: () => Promise.resolve(selected("allow_session")),
  });
  const sessionId = await acp.opened();
  assert.equal(await acp.prompt(sessionId, "Write twice"), "end_turn");
  assert.equal(acp.permissions.length, 1);
  assert.equal(await acp.project.read("docs/e.md"), "two\n");
});

test("a question is a form", async (acp) => {
  acp.play({
    script:
      'call ask_user {"question": "Which one?", "options": ["left", "right"]}\n---\nexpect left\nsay Fine.',
    form: ({ message }) => {
      assert.equal(message, "Which one?");
      return Promise.resolve({ action: "accept", content: { answer: "left" } });
    },
  });
  const sessionId = await acp.opened();
  assert.equal(await acp.prompt(sessionId, "Ask me"), "end_turn");
});

test("a cancelled turn ends with its calls, and so does one whose permission is cancelled", async (acp) => {
  acp.play({ script: "say First half,\nwait here\nsay never.\n---\nexpect Again\nsay Second." });
  const sessionId = await acp.opened();
  const turn = acp.prompt(sessionId, "Go");
  await waitUntil("the first half", () => answerText(acp.seen, sessionId).startsWith("First half,"));
  const queued = acp.prompt(sessionId, "Later");
  await acp.agent.notify(session.cancel, { sessionId });
  assert.deepEqual([await turn, await queued], ["cancelled", "cancelled"]);
  assert.equal(await acp.prompt(sessionId, "Again"), "end_turn");
  acp.play({
    script: 'call write {"path": "docs/c.md", "content": "new\\n"}',
    permission: () => Promise.resolve({ outcome: { outcome: "cancelled" } }),
  });
  assert.equal(await acp.prompt(sessionId, "Write"), "cancelled");
  assert.deepEqual(calls(acp.seen, sessionId).map(({ status }) => status), ["failed"]);
  await assert.rejects(acp.project.read("docs/c.md"));
});

test("a stop closes the question on the client's screen", async (acp) => {
  const asked = Promise.withResolvers<void>();
  acp.play({
    script: 'call write {"path": "docs/d.md", "content": "new\\n"}',
    permission: () => {
      asked.resolve();
      return new Promise(() => {});
    },
  });
  const sessionId = await acp.opened();
  const turn = acp.prompt(sessionId, "Write");
  await asked.promise;
  await acp.agent.notify(session.cancel, { sessionId });
  assert.equal(await turn, "cancelled");
  await waitUntil("the request's cancellation", () => acp.methods.includes("$/cancel_request"));
});

test("sessions are listed, closed, loaded with their diffs, resumed and deleted", async (acp) => {
  acp.play({
    script:
      'say I edit.\ncall read {"path": "src/a.ts"}\n---\ncall edit {"path": "src/a.ts", "old_str": "one = 1", "new_str": "one = 0"}\n---\nsay Edited.\n' +
      "---\nexpect And now?\nsay Loaded.\n---\nexpect Once more\nsay Resumed.",
  });
  const { sessionId } = await acp.open();
  await acp.prompt(sessionId, "Edit one");
  await acp.agent.request(session.close, { sessionId });
  await assert.rejects(acp.prompt(sessionId, "Hello?"), { code: -32002 });
  const cwd = acp.project.root;
  const listed = await acp.agent.request(session.list, { cwd });
  assert.equal(listed.sessions[0]?.sessionId, sessionId);
  assert.equal(listed.sessions[0]?.cwd, cwd);
  acp.seen.length = 0;
  const { modes } = await acp.agent.request(session.load, { sessionId, cwd, mcpServers: [] });
  assert.equal(modes?.currentModeId, "agent");
  const told = acp.seen.map(({ update }) => update.sessionUpdate);
  assert.ok(told.indexOf("user_message_chunk") < told.indexOf("tool_call"));
  assert.equal(answerText(acp.seen, sessionId), "I edit.Edited.");
  const [, edit] = calls(acp.seen, sessionId);
  assert.deepEqual(edit?.content?.map(({ type }) => type), ["diff"]);
  assert.equal(await acp.prompt(sessionId, "And now?"), "end_turn");
  await acp.agent.request(session.close, { sessionId });
  acp.seen.length = 0;
  await acp.agent.request(session.resume, { sessionId, cwd });
  assert.equal(answerText(acp.seen, sessionId), "");
  assert.equal(await acp.prompt(sessionId, "Once more"), "end_turn");
  await acp.agent.request(session.delete, { sessionId });
  const left = await acp.agent.request(session.list, { cwd });
  assert.ok(left.sessions.every((one) => one.sessionId !== sessionId));
});

test("modes, models, effort and approvals are chosen by the client", async (acp) => {
  acp.play({
    script: 'call write {"path": "b.txt", "content": "new\\n"}\n---\nexpect Not run: mode ask\nsay So be it.',
  });
  const { sessionId } = await acp.open();
  await acp.agent.request(session.setMode, { sessionId, modeId: "ask" });
  const { configOptions } = await acp.agent.request(session.setConfigOption, {
    sessionId,
    configId: "effort",
    value: "high",
  });
  const values = Object.fromEntries(configOptions.map(({ id, currentValue }) => [id, currentValue]));
  assert.deepEqual([values.mode, values.effort], ["ask", "high"]);
  await waitUntil(
    "the mode",
    () =>
      acp.seen.some(({ update }) =>
        update.sessionUpdate === "current_mode_update" && update.currentModeId === "ask"
      ),
  );
  assert.equal(await acp.prompt(sessionId, "Write"), "end_turn");
  await assert.rejects(acp.project.read("b.txt"));
  for (const [configId, value] of [["mode", "nope"], ["effort", "nope"], ["nope", "x"]] as const) {
    await assert.rejects(acp.agent.request(session.setConfigOption, { sessionId, configId, value }), {
      code: -32602,
      message: configId === "mode" ? /Unknown mode: nope\. The modes are agent, / : /unknown option or value/,
    });
  }
});

test("a command of the project is offered and sent", async (acp) => {
  acp.play({ script: "expect Tidy src/a.ts now.\nsay Tidied." });
  const { sessionId } = await acp.open();
  const offered = await waitUntil(
    "the commands",
    () =>
      acp.seen.map(({ update }) => update).find((update) =>
        update.sessionUpdate === "available_commands_update"
      ),
  );
  assert.ok(offered.sessionUpdate === "available_commands_update");
  assert.deepEqual(offered.availableCommands.find(({ name }) => name === "tidy"), {
    name: "tidy",
    description: "Tidies up",
    input: { hint: "FILE" },
  });
  assert.equal(await acp.prompt(sessionId, "/tidy src/a.ts"), "end_turn");
});

test("links, texts and images of a prompt reach the model", async (acp) => {
  acp.play({
    script: "expect const two\nexpect from the web\nexpect Look at src/a.ts L2–2 please\nsay Seen.",
  });
  const sessionId = await acp.opened();
  const png =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
  const answer = await acp.agent.request(session.prompt, {
    sessionId,
    prompt: [
      { type: "text", text: "Look at " },
      { type: "resource_link", uri: `file://${acp.project.path("src/a.ts")}#L2`, name: "a.ts" },
      { type: "text", text: " please" },
      { type: "resource", resource: { uri: "https://example.com/page", text: "from the web" } },
      { type: "image", mimeType: "image/png", data: png },
    ],
  });
  assert.equal(answer.stopReason, "end_turn");
  assert.match(JSON.stringify(acp.server.requests.at(-1)?.body), /image_url/);
});

test("the end of stdin ends the agent, its engine and its commands", async (acp) => {
  acp.play({ script: 'call run {"command": "sleep 1000", "access": "look"}' });
  const sessionId = await acp.opened();
  acp.prompt(sessionId, "Wait").catch(() => {});
  await waitUntil(
    "the command",
    () =>
      acp.seen.some(({ update }) =>
        update.sessionUpdate === "tool_call_update" && update.status === "in_progress"
      ),
  );
  const marks = [acp.state.root];
  acp.closeInput();
  await acp.process.status;
  await waitForNone(marks);
});
