import assert from "node:assert/strict";
import { join } from "node:path";
import { namesInside, scriptsOf } from "./scripts.ts";

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
