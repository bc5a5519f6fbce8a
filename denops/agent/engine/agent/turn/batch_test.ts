/** The calls of one answer, run by the real session for a scripted model. */
import assert from "node:assert/strict";
import * as z from "../../../deps/zod.ts";
import { checkEvents, END_TURN, startEngine } from "../../../../../tests/support/engine_session.ts";
import { IS_FULL } from "../../../../../tests/support/sample.ts";
import type { FileRules } from "../../../protocol/config.ts";
import { WIRES } from "../../../protocol/providers.ts";
import { defineTool, NOTHING, type Tool } from "../../tools/define.ts";

const NO_RULES = { deny: [], ask: [] };
const FILES = { "a.txt": "alpha\n", "b.txt": "beta\n" };

/** A tool whose calls meet: each ends only when the call that it waits for has begun. */
function meeting(readOnly: boolean): { readonly tool: Tool; readonly log: readonly string[] } {
  const log: string[] = [];
  const begun = new Map<string, PromiseWithResolvers<void>>();
  const gate = (name: string) => {
    const found = begun.get(name) ?? Promise.withResolvers<void>();
    begun.set(name, found);
    return found;
  };
  const tool = defineTool({
    name: "meet",
    description: "Waits for another call.",
    kind: "other",
    readOnly,
    schema: z.object({ name: z.string(), after: z.string().optional() }),
    title: () => "meet",
    prepare: ({ name, after }) =>
      Promise.resolve({
        access: NOTHING,
        async run() {
          log.push(`begin ${name}`);
          gate(name).resolve();
          if (after !== undefined) await gate(after).promise;
          log.push(`end ${name}`);
          return { text: `met ${name}`, summary: name };
        },
      }),
  });
  return { tool, log };
}

for (const wire of WIRES) {
  Deno.test(`${wire}: calls that only read run at the same time, their results keep the order`, async () => {
    const { tool, log } = meeting(true);
    await using engine = await startEngine({
      wire,
      tools: [tool],
      script: 'call meet {"name": "a", "after": "b"}\ncall meet {"name": "b"}\n---\nexpect met a\nsay Done',
    });
    assert.deepEqual(await engine.prompt("Meet"), END_TURN);
    assert.deepEqual(log, ["begin a", "begin b", "end b", "end a"]);
    assert.deepEqual(engine.results(), ["met a", "met b"]);
    assert.deepEqual(engine.server.problems, []);
    checkEvents(engine.events);
  });
}

Deno.test("the rules on files are asked for once for the calls that run at the same time", async () => {
  let asked = 0;
  const rules: FileRules = {
    safe_to_write: [{ glob: "**", safe: true }],
    deny_read: [],
    read_rules: NO_RULES,
  };
  await using engine = await startEngine({
    files: FILES,
    fileRules: () => Promise.resolve(++asked).then(() => rules),
    script: 'call read_file {"path": "a.txt"}\ncall read_file {"path": "b.txt"}\n' +
      'call write_file {"path": "c.txt", "content": "new"}\n---\nsay Done',
  });
  assert.deepEqual(await engine.prompt("Go"), END_TURN);
  assert.deepEqual(engine.results().slice(0, 2).map((text) => text.trim()), ["1\talpha", "1\tbeta"]);
  assert.equal(await engine.project.read("c.txt"), "new");
  assert.equal(asked, 2);
});

Deno.test("two equal calls that write or run, in one answer, run once; in the next answer again", async () => {
  const { tool, log } = meeting(false);
  const grow = 'call edit_file {"path": "a.txt", "old_str": "alpha", "new_str": "alpha\\nalso"}';
  await using engine = await startEngine({
    files: FILES,
    tools: [tool],
    script: 'call read_file {"path": "a.txt"}\n---\n' +
      `${grow}\ncall meet {"name": "a"}\n${grow}\ncall meet {"name": "a"}\n---\n` +
      'expect Not run again\ncall meet {"name": "a"}\n---\nsay Done',
  });
  assert.deepEqual(await engine.prompt("Go"), END_TURN);
  assert.equal(await engine.project.read("a.txt"), "alpha\nalso\n");
  assert.deepEqual(log, ["begin a", "end a", "begin a", "end a"]);
  assert.deepEqual(engine.server.problems, []);
});

Deno.test("calls that change something run one after the other, and reads wait for them", async () => {
  const writes = meeting(false);
  await using engine = await startEngine({
    files: FILES,
    tools: [writes.tool],
    script: [
      'call meet {"name": "a"}',
      'call meet {"name": "b"}',
      'call read_file {"path": "a.txt"}',
      'call write_file {"path": "a.txt", "content": "new\\n"}',
      'call read_file {"path": "a.txt"}',
      'call edit_file {"path": "a.txt", "old_str": "new", "new_str": "newer"}',
      'call read_file {"path": "a.txt"}',
      "---",
      "say Done",
    ].join("\n"),
  });
  await engine.prompt("Go");
  assert.deepEqual(writes.log, ["begin a", "end a", "begin b", "end b"]);
  assert.deepEqual(engine.results().slice(3), [
    "Replaced a.txt (+1 −1).",
    "1\tnew",
    "Edited a.txt (+1 −1).",
    "1\tnewer",
  ]);
  assert.equal(await engine.project.read("a.txt"), "newer\n");
});

const read = 'call read_file {"path": "a.txt"}';
const batches: readonly (readonly [calls: number, run: number, noted: boolean])[] = [
  [8, 8, false],
  [9, 9, true],
  [15, 15, true],
  [17, 15, true],
];

for (const [calls, run, noted] of batches) {
  Deno.test(`of ${calls} calls in one answer ${run} run${noted ? ", with a note" : ""}`, async () => {
    const script = `${Array(calls).fill(read).join("\n")}\n---\nsay Done`;
    await using engine = await startEngine({ files: FILES, script });
    assert.deepEqual(await engine.prompt("Read"), END_TURN);
    const results = engine.results();
    assert.equal(results.length, calls);
    assert.equal(results.filter((text) => text.startsWith("1\talpha")).length, run);
    assert.equal(
      results.filter((text) => text.startsWith("Not run: at most 15 calls at once.")).length,
      calls - run,
    );
    assert.equal(results.at(-1)?.includes(`[${calls} calls in one answer; at most 8 are better]`), noted);
    assert.deepEqual(engine.server.problems, []);
    checkEvents(engine.events);
  });
}

/** Calls that fail are results that the model can act on. */
const failures: readonly (readonly [call: string, result: RegExp])[] = [
  [
    'call read_fil {"path": "a.txt"}',
    /^Not run: no tool is called "read_fil"\. The tools are: read, list, (?:\w+, )+subagent, break\./,
  ],
  [
    'rawcall write_file {"path": "c.txt", "content": "function () {}',
    /^Not run: the arguments are not valid JSON: .*\. Send the call again\.$/,
  ],
  ['rawcall write_file {"path": "c.txt", "content": "// }', /^Not run: the arguments are not valid JSON: /],
  ['rawcall read_file ["a.txt"]', /^The arguments of read must be a JSON object\.$/],
  ["call delete_file {}", /^Wrong argument "path" for delete: .* The schema says "path": \{"type":"string"/],
  ['call read_file {"path": 7}', /^Wrong argument "path" for read/],
  ['call read_file {"path": "c.txt"}', /^c\.txt does not exist\.$/],
  ['call read_file {"path": "../../etc/passwd"}', /^path is outside of the project/],
  [
    'call edit_file {"path": "c.txt", "old_str": "a", "new_str": "b"}',
    /^c\.txt does not exist\. Use write /,
  ],
  [
    'call edit_file {"path": "a.txt", "old_str": "gamma", "new_str": "b"}',
    /^old_str was not found in a\.txt/,
  ],
  ['call edit_file {"path": "a.txt", "old_str": "alpha"}', /^edit needs new_str/],
  ['call break {"how": "bug"}', /^The tool failed: a bug\nwith a second line$/],
];

const breaking = defineTool({
  name: "break",
  description: "Fails.",
  kind: "other",
  readOnly: true,
  schema: z.object({ how: z.string() }),
  title: () => "break",
  prepare: ({ how }) =>
    Promise.resolve({
      access: NOTHING,
      run: () => Promise.reject(new Error(`a ${how}\nwith a second line`)),
    }),
});

for (const [at, [call, result]] of failures.entries()) {
  Deno.test(`a call that fails is a result: ${call}`, async () => {
    // Each wire has some of them; with `--full` all.
    for (const wire of IS_FULL ? WIRES : [WIRES[at % WIRES.length]]) {
      await using engine = await startEngine({
        ...wire === undefined ? {} : { wire },
        files: FILES,
        tools: [breaking],
        script: `call read_file {"path": "a.txt"}\n---\n${call}\n---\nsay Done?`,
      });
      assert.deepEqual(await engine.prompt("Go"), END_TURN);
      assert.match(engine.results()[1] ?? "", result);
      assert.equal(engine.messages().findLast((message) => message.role === "tool")?.isError, true);
      assert.deepEqual(engine.server.problems, []);
      assert.deepEqual(
        await Array.fromAsync(Deno.readDir(engine.project.root), ({ name }) => name).then((all) =>
          all.sort()
        ),
        ["a.txt", "b.txt"],
      );
      checkEvents(engine.events);
    }
  });
}

Deno.test("a repaired call runs, and the model sees it as it ran", async () => {
  await using engine = await startEngine({
    files: FILES,
    script: "rawcall read_file {'path': 'a.txt',}\n---\nexpect 1\talpha\nsay Done",
  });
  await engine.prompt("Read");
  assert.deepEqual(engine.results(), ["1\talpha"]);
  assert.match(JSON.stringify(engine.server.requests[1]?.body), /\{\\"path\\":\\"a\.txt\\"\}/);
  assert.deepEqual(engine.server.problems, []);
});

Deno.test("unknown arguments are ignored with a note, and other names of path are taken", async () => {
  await using engine = await startEngine({
    files: FILES,
    script: 'call read_file {"file_path": "a.txt", "encoding": "utf8"}\n---\nsay Done',
  });
  await engine.prompt("Read");
  assert.deepEqual(engine.results(), ["1\talpha\n(ignored unknown arguments: encoding)"]);
});

Deno.test("thousands of calls in one answer: the first are run, few are shown, the model is told", async () => {
  const count = IS_FULL ? 10_000 : 1_000;
  const calls = Array.from(
    { length: count },
    (_, at) => `call read_file {"path": "a.txt", "offset": ${at + 1}}`,
  );
  await using engine = await startEngine({ files: FILES, script: `${calls.join("\n")}\n---\nsay Done` });
  assert.deepEqual(await engine.prompt("Go"), END_TURN);
  const results = engine.results();
  assert.equal(results.length, 32);
  assert.match(results[15] ?? "", /^Not run: at most 15 calls at once/);
  assert.ok(results.at(-1)?.endsWith(`[${count} calls in one answer; at most 8 are better]`));
  const shown = engine.events.filter(({ type }) => type === "tool_writing" || type === "tool_start");
  assert.ok(shown.length <= 100, `${shown.length} events`);
  assert.deepEqual(engine.server.problems, []);
  checkEvents(engine.events);
});

Deno.test("arguments that are nested without end are an error of that call", async () => {
  const deep = `{"path": ${"[".repeat(20_000)}${"]".repeat(20_000)}}`;
  const script = `rawcall read_file ${deep}\ncall read_file {"path": "a.txt"}\n---\nsay Done`;
  await using engine = await startEngine({ files: FILES, script });
  assert.deepEqual(await engine.prompt("Go"), END_TURN);
  const [first, second] = engine.results();
  assert.match(first ?? "", /nested more than 100 deep/);
  assert.equal(second, "1\talpha");
});
