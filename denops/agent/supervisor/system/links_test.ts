import assert from "node:assert/strict";
import { join } from "node:path";
import { git, scratch } from "../../../../tests/support/project.ts";
import { makeLink } from "./links.ts";

const ignore = Deno.build.os === "windows";

Deno.test({
  name: "a link that is moved after it was made leads where it led",
  ignore,
  async fn() {
    await using around = await scratch({
      "proj/a/b/c.txt": "",
      "proj/secret.txt": "inside",
      "secret.txt": "outside",
    });
    const root = around.path("proj");
    await makeLink(join(root, "a/b/link"), "../../secret.txt", {
      roots: [root],
      isConfined: true,
      agreed: false,
    });
    await Deno.rename(join(root, "a/b/link"), join(root, "a/link"));
    assert.equal(await Deno.readTextFile(join(root, "a/link")), "inside");
    await Deno.rename(join(root, "a"), join(root, "b"));
    assert.equal(await Deno.readTextFile(join(root, "b/link")), "inside");
  },
});

Deno.test({
  name: "a link keeps its text if it leads down, or if git has it in this folder",
  ignore,
  async fn() {
    await using project = await scratch({ "a [1]/b.txt": "", "c.txt": "" }, { git: true });
    const { root } = project;
    await Deno.symlink("../c.txt", join(root, "a [1]/tracked"));
    await git(root, "add", "--all");
    await Deno.remove(join(root, "a [1]/tracked"));
    const texts = async (path: string, target: string) => {
      await makeLink(join(root, path), target, { roots: [root], isConfined: true, agreed: false });
      return await Deno.readLink(join(root, path));
    };
    assert.equal(await texts("down", "a [1]/b.txt"), "a [1]/b.txt");
    // The name of a temporary file.
    assert.equal(await texts("a [1]/.tracked.tmp", "../c.txt"), "../c.txt");
    assert.equal(await texts("a [1]/other", "../a [1]/b.txt"), join(root, "a [1]/b.txt"));
  },
});

Deno.test({
  name: "no link is made where only Deno's permissions hold",
  ignore,
  async fn() {
    await using project = await scratch({ "a.txt": "" });
    const { root } = project;
    await assert.rejects(
      makeLink(join(root, "link"), "a.txt", { roots: [root], isConfined: false, agreed: false }),
      /no sandbox/,
    );
    await assert.rejects(Deno.lstat(join(root, "link")), Deno.errors.NotFound);
  },
});

Deno.test({
  name: "no link leads out of the workspace, into .git, or stands behind another link",
  ignore,
  async fn() {
    await using around = await scratch({ "proj/a/b.txt": "", "proj/.git/config": "", "secret.txt": "" });
    const root = around.path("proj");
    await Deno.symlink("a", join(root, "to-a"));
    await Deno.symlink("..", join(root, "to-parent"));
    for (
      const [path, target] of [
        ["link", "../secret.txt"],
        ["link", around.path("secret.txt")],
        ["link", "to-parent/secret.txt"],
        ["link", ".git"],
        ["a/link", "../.GIT/config"],
        [".git/link", "../a/b.txt"],
        ["to-a/link", "b.txt"],
        ["a/../link", "a"],
      ] as const
    ) {
      const made = makeLink(`${root}/${path}`, target, { roots: [root], isConfined: true, agreed: false });
      await assert.rejects(made, Error, `${path} -> ${target}`);
    }
    await assert.rejects(
      makeLink("link", "a", { roots: [root], isConfined: true, agreed: false }),
      /absolute/,
    );
  },
});

Deno.test("a link that the user has agreed to is made as it is, in a real folder of the workspace", async () => {
  const root = await Deno.realPath(await Deno.makeTempDir());
  try {
    await makeLink(join(root, "python"), "/usr/bin/python3", {
      roots: [root],
      isConfined: true,
      agreed: true,
    });
    await makeLink(join(root, "a"), "../b", { roots: [root], isConfined: true, agreed: true });
    assert.equal(await Deno.readLink(join(root, "python")), "/usr/bin/python3");
    assert.equal(await Deno.readLink(join(root, "a")), "../b");
    const outside = makeLink(join(root, "..", "x"), "a", { roots: [root], isConfined: true, agreed: true });
    await assert.rejects(outside);
    await assert.rejects(
      makeLink(join(root, "b"), "a", { roots: [root], isConfined: false, agreed: true }),
      /sandbox/,
    );
  } finally {
    await Deno.remove(root, { recursive: true });
  }
});
