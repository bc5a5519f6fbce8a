/** What modes allow, by their access. */
import assert from "node:assert/strict";
import type { Access } from "../protocol/access.ts";
import { COMMAND_ACCESSES } from "../protocol/commands.ts";
import { narrowed, type ToolSet, type TurnLimits } from "../protocol/modes.ts";
import { againstMode } from "./decide_mode.ts";

function write(named: string, relative = named): Access {
  const path = { path: `/p/${relative}`, link: `/p/${named}`, relative, named, exists: false };
  return { kind: "file", files: [{ access: "write", path }] };
}

const line = { command: "ls", cwd: "/p", timeout: 1, background: false };

Deno.test("a mode that changes nothing denies every write", () => {
  for (const mode of ["read", "docs"] as const) {
    assert.equal(againstMode(write("src/a.ts"), { access: mode })?.verdict, "deny");
    assert.equal(againstMode({ kind: "effects", terminal: "1" }, { access: mode })?.verdict, "deny");
    assert.equal(againstMode({ kind: "mcp", server: "s", tool: "t" }, { access: mode })?.verdict, "deny");
    assert.equal(againstMode({ kind: "ask", about: "server", text: "x" }, { access: mode })?.verdict, "deny");
  }
  assert.equal(againstMode(write("docs/a.md"), { access: "read" })?.verdict, "deny");
  const foreign = { kind: "foreign", agent: "a", tool: "edit", title: "Edit" } as const;
  const edit = write("src/a.ts");
  const files = edit.kind === "file" ? edit.files : [];
  assert.equal(againstMode({ ...foreign, files }, { access: "read" })?.verdict, "deny");
  assert.equal(againstMode({ ...foreign, command: "ls" }, { access: "read" }), undefined);
});

Deno.test("documentation is docs/ and Markdown, by the real name and by the link's, and nothing hidden", () => {
  const allowed = (named: string, relative?: string) =>
    againstMode(write(named, relative), { access: "docs" }) === undefined;
  for (const name of ["docs/a.txt", "docs/deep/a.html", "README.md", "src/notes.md"]) {
    assert.ok(allowed(name), name);
  }
  for (
    const name of [
      ...[
        "src/a.ts",
        "docs",
        "docsa/x.txt",
        "a.md.ts",
        "src/docs/a.ts",
        "docs/.env",
        "docs/.git/hooks/pre-commit",
      ],
      ...[".agents/agents/x.md", ".claude/commands/x.md", "../docs/a.md"],
    ]
  ) assert.ok(!allowed(name), name);
  assert.ok(!allowed("docs/a.md", "src/a.ts"));
  assert.ok(!allowed("src/a.ts", "docs/a.md"));
});

Deno.test("commands look, and without the network", () => {
  for (const access of COMMAND_ACCESSES) {
    const said = againstMode({ kind: "command", ...line, access }, { access: "read" });
    assert.equal(said === undefined, access === "look", access);
  }
  assert.equal(againstMode({ kind: "command", ...line }, { access: "read" })?.verdict, "deny");
});

Deno.test("where a mode may write it has nothing against anything", () => {
  assert.equal(
    againstMode({ kind: "command", ...line, access: "git+network" }, { access: "write" }),
    undefined,
  );
  assert.equal(againstMode(write(".git/config"), { access: "write" }), undefined);
});

Deno.test("a set of tools has no commands, sub-agents or external tools, whatever the mode may change", () => {
  for (const toolSet of ["look", "edits"] as const) {
    const limits = narrowed<TurnLimits>({ access: "write" }, toolSet);
    const denies = (access: Access) => againstMode(access, limits)?.verdict === "deny";
    for (const access of COMMAND_ACCESSES) assert.ok(denies({ kind: "command", ...line, access }), access);
    assert.ok(denies({ kind: "agent", name: "explore", task: "x", access: "read" }));
    assert.ok(denies({ kind: "mcp", server: "s", tool: "t" }));
    assert.equal(denies(write("src/a.ts")), toolSet === "look");
    assert.ok(!denies({ kind: "nothing" }));
  }
  const limits = (own: TurnLimits, set?: ToolSet) => narrowed(own, set);
  assert.deepEqual(limits({ access: "read", toolSet: "look" }, "edits"), { access: "read", toolSet: "look" });
  assert.deepEqual(limits({ access: "docs" }, "edits"), { access: "docs", toolSet: "edits" });
  assert.deepEqual(limits({ access: "write" }), { access: "write" });
});
