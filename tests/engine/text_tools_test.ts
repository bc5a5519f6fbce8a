/** The main job with models that have no tool calls of their own, as servers of this machine send what they write. */
import assert from "node:assert/strict";
import { transcript } from "../support/chat.ts";
import { sharedAgent } from "../support/shared_agent.ts";

/** Of the programs that tests share. */
const OPTIONS = 'models = { ["*"] = { native_tools = false } }, sessions = { title = false }';

const QWEN_CODER = `
say I will look at the file first.
say <tool_call>
say <function=read_file>
say <parameter=path>
say src/greet.ts
say </parameter>
say </function>
say </tool_call>
---
expect <tool_response name="read_file">
expect export function greet
say Now I rename it, and keep the name.
say <tool_call>
say <function=edit_file>
say <parameter=path>
say src/greet.ts
say </parameter>
say <parameter=old_str>
say greet(name: string) {
say </parameter>
say <parameter=new_str>
say salute(name: string) { // a < b && c
say </parameter>
say </function>
say </tool_call>
say <tool_call>
say <function=write_file>
say <parameter=path>
say .env
say </parameter>
say <parameter=content>
say GREETING="<salute>"
say </parameter>
say </function>
say </tool_call>
---
expect Edited src/greet.ts
expect Created .env
say Done: **greet** is now salute.
---
expect And the README?
say It needs no change.
`;

Deno.test("a project is changed by calls in text, with an approval, and no mark is ever shown", async () => {
  await using agent = await sharedAgent({
    script: QWEN_CODER,
    wire: "ollama",
    files: ["src/greet.ts"],
    options: 'models = { ["*"] = { native_tools = false } }',
  });
  const { nvim, project, server } = agent;
  await nvim.command("Agent rename greet to salute everywhere");

  await nvim.waitForScreen("? write  .env");
  await nvim.waitForScreen('+GREETING="<salute>"');
  const shown = (await transcript(nvim)).join("\n");
  assert.match(shown, /I will look at the file first\.\n+✓ read src\/greet\.ts/);
  assert.match(shown, /Now I rename it, and keep the name\.\n+✓ edit src\/greet\.ts/);
  assert.doesNotMatch(nvim.screen().join("\n") + shown, /tool_call|parameter|<function/);
  assert.match(
    await project.read("src/greet.ts"),
    /^export function salute\(name: string\) \{ \/\/ a < b && c\n/,
  );
  await nvim.waitForScreen("a once");
  await nvim.keys("a");

  await nvim.waitForScreen("greet is now salute.");
  await nvim.waitForScreen("· ready");
  assert.equal(await project.read(".env"), 'GREETING="<salute>"');

  await nvim.keys("iAnd the README?<Esc><CR>");
  await nvim.waitForScreen("It needs no change.");
  assert.equal(server.requests.length, 4);
  assert.deepEqual(server.requests.map(({ body }) => body.tools), [
    undefined,
    undefined,
    undefined,
    undefined,
  ]);
  assert.deepEqual(server.problems, []);
});

const DELETE =
  '<function_calls><invoke name="delete_file"><parameter name="path">src/greet.ts</parameter></invoke></function_calls>';

const SHOWN = `
say A call such as \`${DELETE}\` deletes the file.
---
say Now the real one.
say ${DELETE}
---
expect Deleted
say It is gone.
`;

for (const native of [true, false]) {
  const kind = native ? "calls of its own" : "calls in text";
  Deno.test(`a call in backticks is shown as it is and deletes nothing: a model with ${kind}`, async () => {
    const script = native
      ? SHOWN.replace(`say ${DELETE}\n`, 'call delete_file {"path": "src/greet.ts"}\n')
      : SHOWN;
    await using agent = await sharedAgent({
      script,
      files: ["src/greet.ts"],
      options: `models = { ["*"] = { native_tools = ${native} } }, sessions = { title = false }`,
    });
    const { nvim, project, server } = agent;
    await nvim.command("Agent how would you delete src/greet.ts?");
    await nvim.waitForScreen("deletes the file.");
    await nvim.waitForScreen("· ready");
    assert.match(
      (await transcript(nvim)).join("\n"),
      new RegExp(`A call such as \`${DELETE}\` deletes the file\\.`),
    );
    assert.match(await project.read("src/greet.ts"), /export function greet/);
    assert.equal(server.requests.length, 1);

    await nvim.command("Agent delete it");
    await nvim.waitForScreen("It is gone.");
    await nvim.waitForScreen("· ready");
    await assert.rejects(project.read("src/greet.ts"), Deno.errors.NotFound);
    assert.deepEqual(server.problems, []);
  });
}

const LONG_WRITE = `
say I write it.
say <tool_call>
say <function=write_file>
say <parameter=path>
say notes.md
say </parameter>
say <parameter=content>
say one
say two
say three
say four
wait half
say five
say </parameter>
say </function>
say </tool_call>
---
expect Created notes.md
say Done.
`;

Deno.test("a call is shown while it is written into the text", async () => {
  await using agent = await sharedAgent({ script: LONG_WRITE, options: OPTIONS });
  const { nvim, project, server } = agent;
  await nvim.command("Agent write some notes");
  await nvim.waitForScreen("write  notes.md");
  await nvim.waitForScreen(/write {2}notes\.md\s+[345] lines/);
  server.release("half");
  await nvim.waitForScreen("Done.");
  await nvim.waitForScreen("· ready");
  assert.equal(await project.read("notes.md"), "one\ntwo\nthree\nfour\nfive");
  assert.deepEqual(server.problems, []);
});

const LLAMA_CPP = `
status 500 {"error":{"code":500,"message":"tools param requires --jinja flag","type":"server_error"}}
---
new-history
say {"name": "read_file", "arguments": {"path": "src/greet.ts"}}
---
expect export function greet
say I rename it.
say {"name": "edit_file", "arguments": {"path": "src/greet.ts", "old_str": "greet(", "new_str": "salute("}}
---
expect Edited src/greet.ts
say Done.
`;

Deno.test("a server without tool calls says so once, and the job is done all the same", async () => {
  await using agent = await sharedAgent({
    ...{ script: LLAMA_CPP, files: ["src/greet.ts"] },
    // What the engine learns of the model is stored.
    hasOwnState: true,
  });
  const { nvim, project, server } = agent;
  await nvim.command("Agent rename greet");
  await nvim.waitForScreen("Done.");
  await nvim.waitForScreen("· ready");
  assert.match(await project.read("src/greet.ts"), /^export function salute\(name/);
  const shown = (await transcript(nvim)).join(" ").replace(/\s+/g, " ");
  assert.match(
    shown,
    /scripted is served without tool calls: its tool calls are asked for, and read, as text\./,
  );
  assert.doesNotMatch(shown, /json|jinja|HTTP 500|old_str/);
  assert.deepEqual(server.requests.map(({ body }) => body.tools === undefined), [false, true, true, true]);
  assert.deepEqual(server.problems, []);
});

const BROKEN = 'say <tool_call>\nsay {"name": "write_file", "arguments": {"path": "b.txt", "content": "half';

const NARROWED = `
${BROKEN}
---
${BROKEN}
---
${BROKEN}
---
new-history
say I cannot write it.
say [TASK_COMPLETE]
---
new-history
${QWEN_CODER.trim().split("\n---\n")[0]}
---
say Now I could.
say **[Task_Complete]**
`;

Deno.test("a model whose calls cannot be read goes on in mode ask, until the user chooses mode agent", async () => {
  await using agent = await sharedAgent({ script: NARROWED, files: ["src/greet.ts"], options: OPTIONS });
  const { nvim, project, server } = agent;
  await nvim.command("Agent write b.txt");
  await nvim.waitForScreen("I cannot write it.");
  await nvim.waitForScreen("· ask ·");
  const shown = (await transcript(nvim)).join(" ").replace(/\s+/g, " ");
  assert.match(shown, /of the model could not be read: this session switches to mode ask/);
  await assert.rejects(project.read("b.txt"), Deno.errors.NotFound);
  await nvim.command("Agent mode agent");
  await nvim.waitForScreenGone("· ask ·");
  await nvim.command("Agent look again");
  await nvim.waitForScreen("Now I could.");
  assert.doesNotMatch((await transcript(nvim)).join(" ") + nvim.screen().join(" "), /task_complete/i);
  const modesOf = (at: number) =>
    [...JSON.stringify(server.requests[at]?.body).matchAll(/<mode_\w+>([\w-]+):/g)].map(([, mode]) => mode);
  assert.equal(modesOf(3).at(-1), "ask");
  assert.equal(modesOf(4).at(-1), "agent");
  assert.deepEqual(server.problems, []);
});
