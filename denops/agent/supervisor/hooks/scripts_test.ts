import assert from "node:assert/strict";
import { join } from "node:path";
import type { Hook } from "./entries.ts";
import { guardFolders, namesInside, scriptsOf } from "./scripts.ts";

const FILES = ["my guard.sh", "hooks/g.sh", "hooks/my guard.sh", "g.sh", "rules.txt"];

Deno.test("an approval covers each file that a command names, however it is quoted", async () => {
  const base = await Deno.realPath(await Deno.makeTempDir());
  const root = join(base, "My (own) project");
  const home = join(base, "home");
  for (const file of [...FILES.map((name) => join(root, name)), join(home, "bin", "a b.sh")]) {
    await Deno.mkdir(join(file, ".."), { recursive: true });
    await Deno.writeTextFile(file, file);
  }
  const namesOf = async (command: string) => {
    const scripts = await scriptsOf({ command, file: undefined }, { root, home, denied: [] });
    return scripts.map(({ name }) => name.replace(`${home}/`, "~/")).sort();
  };
  for (
    const [command, ...expected] of [
      ["bash g.sh", "g.sh"],
      ["node 'my guard.sh'", "my guard.sh"],
      ["bash my\\ guard.sh --rules=rules.txt", "my guard.sh", "rules.txt"],
      ['bash "$CLAUDE_PROJECT_DIR"/hooks/"my guard.sh"', "hooks/my guard.sh"],
      ["bash ${CLAUDE_PROJECT_DIR}/g.sh < rules.txt", "g.sh", "rules.txt"],
      ['"${CLAUDE_PROJECT_DIR:-.}/hooks/g.sh"', "hooks/g.sh"],
      [`bash "${root}/g.sh"`, "g.sh"],
      ['cd hooks && sh "my guard.sh"', "hooks/my guard.sh", "my guard.sh"],
      ['cd "$CLAUDE_PROJECT_DIR/hooks" || exit 2; ./g.sh', "g.sh", "hooks/g.sh"],
      ["bash -c 'bash \"my guard.sh\"'", "my guard.sh"],
      ["guard=hooks/g.sh; bash $guard", "hooks/g.sh"],
      ["bash '~/bin/a b.sh'; bash $HOME/bin/a\\ b.sh", "~/bin/a b.sh"],
      ["bash $(broken g.sh", "g.sh"],
      ["make guard"],
    ] as const
  ) assert.deepEqual(await namesOf(command), expected, command);
  await Deno.symlink(root, join(home, "link"));
  for (
    const [command, expected] of [
      ["sh ~/link/g.sh", true],
      ["cd ~/link; sh none.sh", true],
      ["cd link && sh g.sh", true],
      [`sh '${base}/./My (own) project/g.sh'`, true],
      ["sh ~/bin/a\\ b.sh; cat > ~/seen", false],
    ] as const
  ) assert.equal(await namesInside([root], command, home, home), expected, command);
  await Deno.remove(base, { recursive: true });
});

Deno.test("the folders of guards' scripts are sensitive", async () => {
  const root = await Deno.realPath(await Deno.makeTempDir());
  for (const file of ["a.sh", "tools/b.py", "tools (old)/c", "src/d.ts", "config/e.json", "web/f.js"]) {
    await Deno.mkdir(join(root, file, ".."), { recursive: true });
    await Deno.writeTextFile(join(root, file), "");
  }
  await Deno.symlink("src", join(root, "link"));
  const globsOf = async (event: Hook["event"], command: string) => {
    const hook: Hook = {
      event,
      command,
      matcher: "",
      rule: undefined,
      timeout: 1,
      failsClosed: false,
      file: undefined,
      cursor: undefined,
    };
    return (await guardFolders([hook], root, "/none")).map(({ glob }) => glob);
  };
  const command =
    "bash a.sh; python3 tools/b.py config/e.json; bash 'tools (old)/c'; deno run link/d.ts tools";
  assert.deepEqual(await globsOf("PreToolUse", command), [
    "tools/**",
    "tools \\(old\\)/**",
    "link/**",
    "src/**",
  ]);
  assert.deepEqual(await globsOf("PostToolUse", "node web/f.js"), []);
  await Deno.remove(root, { recursive: true });
});
