import assert from "node:assert/strict";
import { join } from "node:path";
import { TrackedFiles } from "./tracked.ts";

interface Repository extends AsyncDisposable {
  readonly folder: string;
  git(...args: readonly string[]): Promise<void>;
  write(path: string): Promise<void>;
}

async function repository(): Promise<Repository> {
  const folder = await Deno.realPath(await Deno.makeTempDir({ prefix: "agent-tracked-" }));
  const env = { PATH: Deno.env.get("PATH") ?? "", GIT_CONFIG_GLOBAL: "/dev/null", GIT_CONFIG_NOSYSTEM: "1" };
  const git = async (...args: readonly string[]) => {
    const before = ["-c", "user.name=Test", "-c", "user.email=test@example.invalid"];
    const command = new Deno.Command("git", {
      args: [...before, ...args],
      cwd: folder,
      env,
      clearEnv: true,
    });
    const { success, stderr } = await command.output();
    assert.ok(success, new TextDecoder().decode(stderr));
  };
  await git("init", "--quiet", "--initial-branch=main");
  return {
    folder,
    git,
    write: (path) => Deno.writeTextFile(join(folder, path), "text"),
    [Symbol.asyncDispose]: () => Deno.remove(folder, { recursive: true }),
  };
}

const isSecret = (name: string) => name.endsWith(".env");

Deno.test("a denied file that git keeps is found as soon as it is added, and no longer when it is removed", async () => {
  await using place = await repository();
  const files = new TrackedFiles();
  const find = (rules = "") => files.find(place.folder, rules, isSecret);
  assert.equal(await find(), undefined, "nothing was added yet");
  await place.write("a.txt");
  await place.write("prod.env");
  await place.git("add", "a.txt");
  assert.equal(await find(), undefined, "git does not keep it");
  await place.git("add", "prod.env");
  assert.equal(await find(), "prod.env");
  await place.git("rm", "--quiet", "--cached", "prod.env");
  assert.equal(await find(), undefined);
});

Deno.test("what was found holds as long as the rules do", async () => {
  await using place = await repository();
  await place.write("a.txt");
  await place.git("add", "a.txt");
  const files = new TrackedFiles();
  assert.equal(await files.find(place.folder, "one", isSecret), undefined);
  assert.equal(await files.find(place.folder, "two", (name) => name === "a.txt"), "a.txt");
});

Deno.test("in a linked worktree it is the worktree's own files", async () => {
  await using place = await repository();
  await place.write("a.txt");
  await place.git("add", "a.txt");
  await place.git("commit", "--quiet", "--message=Start");
  await place.git("worktree", "add", "--quiet", "linked");
  await place.write("linked/prod.env");
  await place.git("-C", "linked", "add", "prod.env");
  const files = new TrackedFiles();
  assert.equal(await files.find(join(place.folder, "linked"), "", isSecret), "prod.env");
  assert.equal(await files.find(place.folder, "", isSecret), undefined);
});

Deno.test("where git does not say what it keeps, it may keep anything", async () => {
  await using place = await repository();
  await place.write("a.txt");
  await place.git("add", "a.txt");
  await Deno.writeTextFile(join(place.folder, ".git/index"), "no index");
  const files = new TrackedFiles();
  assert.notEqual(await files.find(place.folder, "", isSecret), undefined);
  await Deno.remove(join(place.folder, ".git/index"));
  await place.git("add", "a.txt");
  assert.equal(await files.find(place.folder, "", isSecret), undefined, "that was not kept in mind");
});

Deno.test("a folder without a repository keeps nothing", async () => {
  const folder = await Deno.makeTempDir({ prefix: "agent-tracked-" });
  try {
    assert.equal(await new TrackedFiles().find(folder, "", () => true), undefined);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
