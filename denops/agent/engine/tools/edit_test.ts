/** The three forms of an edit, through the session: access, approval, checkpoint, and what the model is told. */
import assert from "node:assert/strict";
import { END_TURN, type EngineOptions, startEngine } from "../../../../tests/support/engine_session.ts";
import { objects, property, string } from "../../../../tests/model/model_messages.ts";
import { WIRES } from "../../protocol/providers.ts";
import { scratch } from "../../../../tests/support/project.ts";
import { editFormOf } from "../../models/families.ts";
import { edit as editTool } from "./edit.ts";

const FILES = { "a.txt": "one\ntwo\nthree\n", "b.txt": "x\r\ny\r\n", "old.txt": "gone\n" };

function call(name: string, args: Readonly<Record<string, unknown>>): string {
  return `call ${name} ${JSON.stringify(args)}`;
}

const READ = call("read_files", { paths: Object.keys(FILES) });

function patch(...lines: readonly string[]): string {
  return call("edit_file", { patch: ["*** Begin Patch", ...lines, "*** End Patch"].join("\n") });
}

/** One turn that reads the files and then makes this call. */
async function after(edit: string, options: Partial<EngineOptions> = {}) {
  const engine = await startEngine({
    files: FILES,
    config: { title: false },
    script: [READ, edit, "say Done?"].join("\n---\n"),
    ...options,
  });
  assert.deepEqual(await engine.prompt("Go"), END_TURN);
  return engine;
}

const ALL = patch(
  ...["*** Update File: a.txt", "@@", " one", "-two", "+2", "*** Add File: new/c.txt", "+made"],
  ...["*** Update File: b.txt", "*** Move to: moved/b.txt", "@@", "-x", "+X", "*** Delete File: old.txt"],
);

Deno.test("a patch of four files: one approval, one checkpoint, and all of it can be taken back", async () => {
  await using engine = await after(ALL);
  const { project } = engine;
  assert.equal(await project.read("a.txt"), "one\n2\nthree\n");
  assert.equal(await project.read("new/c.txt"), "made\n");
  assert.equal(await project.read("moved/b.txt"), "X\r\ny\r\n");
  await assert.rejects(project.read("b.txt"), Deno.errors.NotFound);
  await assert.rejects(project.read("old.txt"), Deno.errors.NotFound);
  assert.match(
    engine.results().at(-1) ?? "",
    /^Patched 4 files:\na\.txt: changed \(\+1 −1\)\.\nnew\/c\.txt: created/,
  );
  const [start] = engine.events.filter((event) => event.type === "tool_start" && event.call.tool === "edit");
  assert.ok(start?.type === "tool_start");
  assert.equal(start.call.title, "edit a.txt and 3 other files");
  assert.deepEqual(
    start.call.paths.map((path) => path.slice(project.root.length + 1)).sort(),
    ["a.txt", "b.txt", "moved/b.txt", "new/c.txt", "old.txt"],
  );
  await engine.session.takeBack({ kind: "undo", turn: undefined });
  for (const [path, text] of Object.entries(FILES)) assert.equal(await project.read(path), text);
  await assert.rejects(project.read("new/c.txt"), Deno.errors.NotFound);
  await assert.rejects(project.read("moved/b.txt"), Deno.errors.NotFound);
});

Deno.test("a file that a rule protects is asked about with the whole patch; with no nothing of it is written", async () => {
  await using engine = await after(
    patch("*** Update File: a.txt", "-two", "+2", "*** Add File: .envrc", "+x"),
    {
      ask: () => ({ answer: "reject" }),
    },
  );
  const [asked] = engine.asked;
  assert.equal(engine.asked.length, 1);
  assert.deepEqual([asked?.diff?.path, asked?.diff?.others?.map(({ path }) => path)].flat(), [
    engine.project.path("a.txt"),
    engine.project.path(".envrc"),
  ]);
  assert.equal(await engine.project.read("a.txt"), FILES["a.txt"]);
  await assert.rejects(engine.project.read(".envrc"), Deno.errors.NotFound);
});

const refused: readonly (readonly [what: string, edit: string, says: RegExp])[] = [
  [
    "one hunk of three does not fit",
    patch("*** Update File: a.txt", "@@", "-one", "+1", "@@", "-zwei", "+2", "*** Add File: c.txt", "+x"),
    /Nothing of the patch was written\. a\.txt, hunk 2 \(line 6 of the patch\)/,
  ],
  [
    "two sections do not fit",
    patch("*** Update File: a.txt", "-1", "+1", "*** Delete File: none.txt", "*** Add File: b.txt", "+x"),
    /3 sections do not fit:\na\.txt, hunk 1 [\s\S]*\nnone\.txt does not exist\.\nb\.txt exists already/,
  ],
  [
    "outside by dots",
    patch("*** Add File: c.txt", "+x", "*** Add File: ../c.txt", "+x"),
    /outside of the project/,
  ],
  [
    "outside, absolute",
    patch("*** Update File: a.txt", "-one", "+1", "*** Delete File: /etc/hosts"),
    /outside/,
  ],
  ["outside by a move", patch("*** Update File: a.txt", "*** Move to: ../a.txt"), /outside/],
  [
    "outside by a link",
    patch("*** Update File: a.txt", "-one", "+1", "*** Add File: link/c.txt", "+x"),
    /outside/,
  ],
  ["a move onto a file", patch("*** Update File: a.txt", "*** Move to: b.txt"), /b\.txt exists already/],
  ["a file that was not read", patch("*** Update File: unread.txt", "-x", "+y"), /have not read unread\.txt/],
  ["it is cut off", call("edit_file", { patch: "*** Begin Patch\n*** Delete File: a.txt\n" }), /cut off/],
  [
    "the whole text with a placeholder",
    call("edit_file", { path: "a.txt", content: "one\n// ... rest of the file ...\n" }),
    /stands for lines of a\.txt that would be lost/,
  ],
  [
    "two forms at once",
    call("edit_file", { path: "a.txt", content: "x", old_str: "one", new_str: "1" }),
    /not both/,
  ],
  ["no form at all", call("edit_file", { path: "a.txt" }), /needs old_str and new_str/],
  ["no path", call("edit_file", { old_str: "one", new_str: "1" }), /needs path/],
];

for (const [what, edit, says] of refused) {
  Deno.test(`nothing is written: ${what}`, async () => {
    const files = { ...FILES, "unread.txt": "x\n" };
    await using engine = await startEngine({
      files,
      config: { title: false },
      script: [READ, edit, "say Done?"].join("\n---\n"),
    });
    await using outside = await scratch({});
    await Deno.symlink(outside.root, engine.project.path("link"));
    assert.deepEqual(await engine.prompt("Go"), END_TURN);
    assert.match(engine.results().at(-1) ?? "", says);
    for (const [path, text] of Object.entries(files)) assert.equal(await engine.project.read(path), text);
    await assert.rejects(engine.project.read("c.txt"), Deno.errors.NotFound);
    assert.deepEqual([...Deno.readDirSync(outside.root)], []);
    assert.deepEqual(engine.events.filter(({ type }) => type === "file_modified"), []);
  });
}

Deno.test("who agrees to a patch sees every file of it: what is moved and deleted too, text or not", async () => {
  const lines = [
    ...[
      "*** Update File: a.txt",
      "*** Move to: .envrc",
      "*** Update File: b.txt",
      "*** Move to: c.txt",
      "-x",
      "+X",
    ],
    ...["*** Delete File: old.txt", "*** Delete File: d.bin"],
  ];
  await using engine = await after(patch(...lines), { files: { ...FILES, "d.bin": new Uint8Array([0, 1]) } });
  const [{ diff } = assert.fail()] = engine.asked;
  const shown = [...diff === undefined ? [] : [diff], ...diff?.others ?? []].map((
    { path, before, after },
  ) => [path.slice(engine.project.root.length + 1), before, after]);
  assert.deepEqual(shown, [
    ["a.txt", FILES["a.txt"], ""],
    [".envrc", undefined, FILES["a.txt"]],
    ["b.txt", FILES["b.txt"], ""],
    ["c.txt", undefined, "X\r\ny\r\n"],
    ["old.txt", "gone\n", ""],
    ["d.bin", "", ""],
  ]);
  assert.equal(await engine.project.read(".envrc"), FILES["a.txt"]);
  assert.equal(await engine.project.read("c.txt"), "X\r\ny\r\n");
  await assert.rejects(engine.project.read("d.bin"), Deno.errors.NotFound);
});

Deno.test("sections of one file follow each other: changed twice, deleted and made anew, made and changed", async () => {
  await using engine = await after(patch(
    ...["*** Update File: a.txt", "-one", "+1", "*** Update File: a.txt", "-three", "+3"],
    ...["*** Delete File: b.txt", "*** Add File: b.txt", "+anew"],
    ...["*** Add File: c.txt", "+x", "*** Update File: c.txt", "-x", "+y"],
    ...["*** Delete File: old.txt"],
  ));
  const { project } = engine;
  assert.equal(await project.read("a.txt"), "1\ntwo\n3\n");
  assert.equal(await project.read("b.txt"), "anew\n");
  assert.equal(await project.read("c.txt"), "y\n");
  await assert.rejects(project.read("old.txt"), Deno.errors.NotFound);
});

Deno.test("files that may not be read are not patched, nor moved to where they could be", async () => {
  const files = { ...FILES, ".env": "SECRET=1\n" };
  for (const lines of [["-SECRET=1", "+SECRET=2"], ["*** Move to: c.txt"]]) {
    await using engine = await after(patch("*** Update File: .env", ...lines), { files });
    assert.match(engine.results().at(-1) ?? "", /may hold secrets and is not readable/);
    assert.equal(await engine.project.read(".env"), files[".env"]);
    await assert.rejects(engine.project.read("c.txt"), Deno.errors.NotFound);
  }
});

Deno.test("unsaved text of the user's: what fits is merged, and what does not is told beside what was written", async () => {
  const mine = "one\ntwo, mine\nthree\n";
  await using engine = await after(
    patch("*** Update File: a.txt", "-two", "+2", "*** Update File: b.txt", "-x", "+X"),
    {
      editor: {
        unsavedText: () => Promise.resolve(undefined),
        writeUnsaved: (path) =>
          Promise.resolve(
            path.endsWith("a.txt")
              ? { status: "conflict", text: mine } as const
              : { status: "not_open" } as const,
          ),
      },
    },
  );
  assert.match(
    engine.results().at(-1) ?? "",
    /^Patched 1 file, 1 file NOT changed:\na\.txt: NOT CHANGED: The user has changed the same lines[\s\S]*\nb\.txt: changed/,
  );
  assert.equal(await engine.project.read("a.txt"), FILES["a.txt"]);
  assert.equal(await engine.project.read("b.txt"), "X\r\ny\r\n");
});

Deno.test("the whole text: line endings stay, and what the file says itself is no placeholder", async () => {
  await using engine = await after(
    call("edit_file", { path: "b.txt", content: "x\nz\n# ... existing code ...\n" }),
    {
      files: { ...FILES, "b.txt": "x\r\ny\r\n# ... existing code ...\r\n" },
    },
  );
  assert.equal(await engine.project.read("b.txt"), "x\r\nz\r\n# ... existing code ...\r\n");
});

const models: readonly (readonly [model: string, forms: string])[] = [
  ["qwen2.5-coder:7b", "whole"],
  ["qwen3:14b-q4_K_M", "whole"],
  ["Qwen/Qwen2.5-Coder-32B-Instruct", "whole"],
  ["qwen3-coder:30b-a3b", "replace"],
  ["qwen3:32b", "replace"],
  ["gemma3:270m", "whole"],
  ["gemma3n:e4b", "whole"],
  ["mixtral:8x7b", "replace"],
  ["qwen2.5-7b-instruct-1m", "whole"],
  ["gpt-oss:20b", "whole"],
  ["openai/gpt-oss-120b", "patch"],
  ["gpt-5-codex", "patch"],
  ["claude-sonnet-4-5-20250929", "replace"],
  ["gemini-2.5-pro", "replace"],
  ["deepseek-r1:1.5b", "whole"],
  ["", "replace"],
];

Deno.test("the form of edits of a model, by its name", () => {
  for (const [model, forms] of models) assert.equal(editFormOf(model), forms, model);
});

Deno.test("a model is shown the forms that it is good at, or the one that the user has set", async () => {
  const shown = async (config: EngineOptions["config"], name = "edit") => {
    await using engine = await startEngine({ script: "say Done.", config: { title: false, ...config } });
    await engine.prompt("Go");
    const tools = engine.server.requests[0]?.body.tools;
    const tool = Array.isArray(tools)
      ? tools.map((tool) => property(tool, "function")).find((tool) => property(tool, "name") === name)
      : undefined;
    const parameters = property(tool, "parameters");
    const keys = Object.keys(Object(property(parameters, "properties")));
    return [keys.join(" "), JSON.stringify(property(parameters, "required") ?? [])];
  };
  const replace = "path old_str new_str replace_all edits";
  assert.deepEqual(await shown({ model: "claude-x" }), [replace, '["path"]']);
  assert.deepEqual(await shown({ model: "gpt-5" }, "apply_patch"), ["input", '["input"]']);
  assert.deepEqual(await shown({ model: "qwen2.5-coder:7b" }), ["path content", '["path","content"]']);
  assert.deepEqual(await shown({ model: "claude-x", edit_form: "patch" }, "apply_patch"), [
    "input",
    '["input"]',
  ]);
  assert.deepEqual(await shown({ model: "qwen3:8b", edit_form: "replace" }), [replace, '["path"]']);
});

Deno.test("the form of a call is what it is written in", () => {
  assert.equal(editTool.forms?.of({ patch: "" }), "patch");
  assert.equal(editTool.forms?.of({ path: "a", content: "" }), "whole");
  assert.equal(editTool.forms?.of({ path: "a", old_str: "", new_str: "" }), "replace");
});

/** Of each family: the call that its models are shown, and what stands in a.txt then. */
const FAMILIES = [
  ["claude-sonnet-4-5", call("edit", { path: "a.txt", old_string: "two", new_string: '2 "😀"' })],
  [
    "gpt-5-codex",
    call("apply_patch", {
      input: '*** Begin Patch\n*** Update File: a.txt\n@@\n one\n-two\n+2 "😀"\n*** End Patch',
    }),
  ],
  ["qwen2.5-coder:7b", call("edit", { path: "a.txt", content: 'one\n2 "😀"\nthree\n' })],
] as const;

for (const wire of WIRES) {
  Deno.test(`${wire}: each family edits in its own form, and nothing else of that is offered`, async () => {
    for (const [model, edit] of FAMILIES) {
      await using engine = await startEngine({
        ...{ wire, files: FILES, config: { title: false, model } },
        script: `${call("read", { path: "a.txt" })}\n---\n${edit}\n---\nsay Done`,
      });
      await engine.prompt("Go");
      assert.equal(
        await engine.project.read("a.txt"),
        'one\n2 "😀"\nthree\n',
        `${model}: ${engine.results()}`,
      );
      assert.deepEqual(engine.server.problems, []);
      const { tools } = engine.server.requests[0]?.body ?? {};
      const names = objects(tools).map((tool) =>
        string(tool.name) ?? string(property(tool.function, "name"))
      );
      const editing = names.filter((name = "") => /^(?:edit|apply_patch|write|delete|move)$/.test(name));
      const own = /gpt/.test(model)
        ? ["apply_patch"]
        : /7b/.test(model)
        ? ["write", "edit"]
        : ["write", "edit", "delete", "move"];
      assert.deepEqual(editing, own, model);
      // OpenAI's Responses take a patch as it is.
      const items = objects(engine.server.requests.at(-1)?.body.input).map(({ type }) => type);
      const isText = wire === "openai_responses" && /gpt/.test(model);
      assert.equal(items.includes("custom_tool_call") && items.includes("custom_tool_call_output"), isText);
    }
  });
}

Deno.test("a server that knows no custom tools is asked with functions, at once and from then on", async () => {
  const refusal = {
    message: "Invalid value: 'custom'. Supported values are: 'function'.",
    param: "tools[3].type",
  };
  await using engine = await startEngine({
    ...{ wire: "openai_responses", files: FILES, config: { title: false, model: "gpt-5" } },
    script: [
      `status 400 ${JSON.stringify({ error: refusal })}`,
      `new-history\n${
        call("apply_patch", { input: "*** Begin Patch\n*** Delete File: old.txt\n*** End Patch" })
      }`,
      "say Done",
    ].join("\n---\n"),
  });
  await engine.prompt("Go");
  await assert.rejects(engine.project.read("old.txt"), Deno.errors.NotFound);
  const kinds = engine.server.requests.map(({ body }) =>
    objects(body.tools).some(({ type }) => type === "custom")
  );
  assert.deepEqual(kinds, [true, false, false]);
  assert.deepEqual(engine.server.problems, []);
});

Deno.test("who may not delete does not delete by a patch", async () => {
  const patch = call("apply_patch", { input: "*** Begin Patch\n*** Delete File: old.txt\n*** End Patch" });
  await using engine = await startEngine({
    ...{ files: FILES, config: { title: false, model: "gpt-5", tools_off: ["delete_file"] } },
    script: `${patch}\n---\nsay Done`,
  });
  await engine.prompt("Go");
  assert.match(engine.results()[0] ?? "", /^Not run: delete_file is off in this session\./);
  assert.equal(await engine.project.read("old.txt"), "gone\n");
});
