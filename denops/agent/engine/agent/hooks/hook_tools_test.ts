import assert from "node:assert/strict";
import { TOOLS } from "../../tools/registry.ts";
import { changedArguments, hookCalls } from "./hook_tools.ts";

const ROOT = "/p";

Deno.test("a changed input becomes our arguments again", () => {
  for (
    const [name, args] of [
      ["run", { command: "ls", timeout: 5, cwd: "src" }],
      ["edit", { path: "/p/a", old_str: "a", new_str: "b" }],
      ["edit", { path: "/p/a", edits: [{ old_str: "a", new_str: "b", replace_all: true }] }],
      ["edit", { path: "/p/a", content: "x" }],
      ["write", { path: "/p/a", content: "x" }],
      ["read", { path: "/p/a", offset: 2, limit: 3 }],
      ["search", { query: "x", path: "/p/src", glob: "*.ts", context: 2 }],
      ["list", { path: "/p/src", glob: "*.ts" }],
      ["fetch", { url: "https://a.example/", page: 2 }],
      ["subagent", { title: "t", task: "x", mode: "explore", background: true }],
      ["files__read", { any: 1 }],
    ] as const
  ) {
    const [call] = hookCalls(name, args, ROOT);
    assert.deepEqual(changedArguments(name, call?.input ?? {}, args), args, name);
  }
});

Deno.test("deleting, moving and patching look like the commands and edits that guards know", () => {
  const calls = (name: string, args: object) =>
    hookCalls(name, { ...args }, ROOT).map(({ tool, input }) => [tool, input.command ?? input.file_path]);
  assert.deepEqual(calls("delete", { path: "a b" }), [["Bash", "rm -- '/p/a b'"]]);
  assert.deepEqual(calls("move", { from: "a", to: "b" }), [["Bash", "mv -- /p/a /p/b"]]);
  assert.deepEqual(calls("read", { path: "a", paths: ["b", "c"] }), [
    ["Read", "/p/a"],
    ["Read", "/p/b"],
    ["Read", "/p/c"],
  ]);
  const operations = [{ type: "read", file_path: "a" }, { type: "find_files", query: "*.ts" }];
  assert.deepEqual(hookCalls("research", { operations }, ROOT), [
    { tool: "Read", input: { file_path: "/p/a" } },
    { tool: "Glob", input: { pattern: "*.ts", path: "/p" } },
  ]);
  assert.equal(hookCalls("run", { command: "rm *", cwd: "src" }, ROOT)[0]?.input.cwd, "/p/src");
  const patch =
    "*** Begin Patch\n*** Add File: a\n+x\n*** Delete File: b\n*** Update File: c\n*** Move to: d\n*** End Patch";
  assert.deepEqual(calls("edit", { patch }), [
    ["Write", "/p/a"],
    ["Bash", "rm -- /p/b"],
    ["Edit", "/p/c"],
    ["Bash", "mv -- /p/c /p/d"],
    ["Write", "/p/d"],
  ]);
  assert.equal(changedArguments("delete", { command: "ls" }, {}), undefined);
});

Deno.test("hooks see each tool that can change something under a name that guards know", () => {
  const own = TOOLS.filter(({ readOnly, name }) => !readOnly && hookCalls(name, {}, ROOT)[0]?.tool === name);
  assert.deepEqual(own.map(({ name }) => name), ["call_tool"]);
});
