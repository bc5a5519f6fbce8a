/** What modes allow, by their access. */
import assert from "node:assert/strict";
import type { Access } from "../protocol/access.ts";
import { COMMAND_ACCESSES } from "../protocol/commands.ts";
import { againstMode } from "./decide_mode.ts";

function write(named: string, relative = named): Access {
  const path = { path: `/p/${relative}`, link: `/p/${named}`, relative, named, exists: false };
  return { kind: "file", files: [{ access: "write", path }] };
}

const line = { command: "ls", cwd: "/p", timeout: 1, background: false };

Deno.test("a mode that changes nothing denies every write", () => {
  for (const mode of ["read", "docs"] as const) {
    assert.equal(againstMode(write("src/a.ts"), mode)?.verdict, "deny");
    assert.equal(againstMode({ kind: "effects", terminal: "1" }, mode)?.verdict, "deny");
    assert.equal(againstMode({ kind: "mcp", server: "s", tool: "t" }, mode)?.verdict, "deny");
    assert.equal(againstMode({ kind: "ask", about: "server", text: "x" }, mode)?.verdict, "deny");
  }
  assert.equal(againstMode(write("docs/a.md"), "read")?.verdict, "deny");
});

Deno.test("documentation is docs/ and Markdown, by the real name and by the link's, and nothing hidden", () => {
  const allowed = (named: string, relative?: string) =>
    againstMode(write(named, relative), "docs") === undefined;
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
    const said = againstMode({ kind: "command", ...line, access }, "read");
    assert.equal(said === undefined, access === "look", access);
  }
  assert.equal(againstMode({ kind: "command", ...line }, "read")?.verdict, "deny");
});

Deno.test("where a mode may write it has nothing against anything", () => {
  assert.equal(againstMode({ kind: "command", ...line, access: "git+network" }, "write"), undefined);
  assert.equal(againstMode(write(".git/config"), "write"), undefined);
});
