import assert from "node:assert/strict";
import { join } from "node:path";
import fc from "fast-check";
import { runs } from "../../../../../tests/support/runs.ts";
import { plainGitConfig } from "./plain_git_config.ts";

const listed = (entries: readonly (readonly [string, string | undefined])[]) =>
  entries.map(([key, value]) => value === undefined ? `${key}\0` : `${key}\n${value}\0`).join("");

/** What git itself reads from a configuration. */
async function read(text: string): Promise<string> {
  const folder = await Deno.makeTempDir({ prefix: "agent-config-" });
  try {
    const path = join(folder, "config");
    await Deno.writeTextFile(path, text);
    const args = ["config", "--file", path, "--list", "-z"];
    const { stdout, stderr, success } = await new Deno.Command("git", { args }).output();
    assert.ok(success, new TextDecoder().decode(stderr));
    return new TextDecoder().decode(stdout);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

Deno.test("git reads the values as they were, whatever is in them", async () => {
  const key = fc.constantFrom("user.name", "user.email", "core.abbrev", "safe.directory", "status.short");
  const value = fc.oneof(
    fc.string({
      unit: fc.integer({ min: 1, max: 126 }).map((code) => String.fromCharCode(code)),
      maxLength: 20,
    }),
    fc.constantFrom(
      'a "quoted" \\ name',
      "# no comment",
      "; nor this",
      "two\nlines",
      " spaces ",
      "ä ✓",
      "\ttab",
    ),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(key, value), { maxLength: 6 }), async (entries) => {
      assert.equal(await read(plainGitConfig(listed(entries))), listed(entries));
    }),
    runs(40),
  );
});

Deno.test("a key without a value is a switch that is on", async () => {
  assert.equal(await read(plainGitConfig("core.symlinks\0")), "core.symlinks\ntrue\0");
});

Deno.test("nothing that names a program, a file, a key or a place crosses", () => {
  const keys = [
    ...["core.pager", "core.editor", "core.sshcommand", "core.hookspath", "core.fsmonitor", "core.askpass"],
    ...["core.excludesfile", "core.attributesfile", "core.gitproxy", "core.worktree", "include.path"],
    ...["credential.helper", "credential.https://x.example.helper", "user.signingkey", "gpg.program"],
    ...["alias.st", "diff.external", "diff.tool", "difftool.x.cmd", "merge.tool", "mergetool.x.cmd"],
    ...["filter.lfs.clean", "diff.x.textconv", "diff.x.command", "merge.x.driver", "remote.origin.url"],
    ...["url.https://token@x.example.insteadof", "http.extraheader", "http.proxy", "sendemail.smtppass"],
    ...["includeif.gitdir:/x.path", "init.templatedir", "commit.template", "browser.x.cmd", "pager.log"],
    ...[
      "interactive.difffilter",
      "sequence.editor",
      "ssh.variant",
      "protocol.ext.allow",
      "uploadpack.packobjectshook",
    ],
  ];
  assert.equal(plainGitConfig(listed(keys.map((key) => [key, "x"]))), "");
});

Deno.test("a line break in a value begins no section of its own", async () => {
  const config = plainGitConfig(listed([["user.name", "me\n[core]\n\tpager = evil"]]));
  assert.equal(await read(config), "user.name\nme\n[core]\n\tpager = evil\0");
});
