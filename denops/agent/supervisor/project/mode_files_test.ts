/** Files of modes: which are read, and which are not. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { FileRules } from "../../protocol/config.ts";
import { scratch } from "../../../../tests/support/project.ts";
import { modeFiles } from "./mode_files.ts";

const rules = FileRules.parse({ safe_to_write: [], deny_read: ["**/secret*"] });

Deno.test("a file that leads out of the project, or may not be read, is not told to anybody", async () => {
  await using outside = await scratch({
    "key.md": "---\ndescription: key\n---\nTOPSECRET",
    "dir/x.md": "---\n---\nTOPSECRET",
  });
  await using project = await scratch({
    ".agents/agents/good.md": "---\ndescription: good\n---\nGood.",
    ".agents/agents/secret.md": "---\n---\nTOPSECRET",
    ".agents/agents/huge.md": `---\n---\n${"x".repeat(100_000)}`,
    ".agents/agents/note.txt": "no mode",
  });
  const folder = project.path(".agents/agents");
  await Deno.symlink(outside.path("key.md"), join(folder, "link.md"));
  await Deno.mkdir(join(folder, "folder.md"));
  // Ordinary names that lead to what may not be read.
  await project.write("secret.env", "---\n---\nTOPSECRET");
  await project.write(".git/config", "---\n---\nTOPSECRET");
  await Deno.symlink("../../secret.env", join(folder, "tests.md"));
  await Deno.symlink("../../.git/config", join(folder, "token.md"));
  const found = await modeFiles({ root: project.root, configDir: undefined, rules, known: [] });
  assert.deepEqual(found.modes.map(({ name, text }) => [name, text]), [["good", "Good."]]);
  assert.equal(found.problems.length, 5);
  assert.doesNotMatch(JSON.stringify(found), /TOPSECRET/);

  await using linked = await scratch({ ".agents/keep": "" });
  await Deno.symlink(outside.path("dir"), linked.path(".agents/agents"));
  const none = await modeFiles({ root: linked.root, configDir: undefined, rules, known: [] });
  assert.deepEqual(none.modes, []);
  assert.doesNotMatch(JSON.stringify(none), /TOPSECRET/);
});

Deno.test("the user's own may be links, and come before the project's", async () => {
  await using dotfiles = await scratch({ "mine.md": "---\nmode: agent\n---\nMine." });
  await using config = await scratch({ "agent/agents/keep": "" });
  await using project = await scratch({ ".agents/agents/mine.md": "---\nmode: agent\n---\nTheirs." });
  await Deno.symlink(dotfiles.path("mine.md"), config.path("agent/agents/mine.md"));
  const found = await modeFiles({ root: project.root, configDir: config.root, rules, known: [] });
  assert.deepEqual(found.modes.map(({ text }) => text), ["Mine."]);
  assert.match(
    found.problems.join(),
    /^Cannot use \.agents\/agents\/mine\.md: another mode is called mine\.$/,
  );
});
