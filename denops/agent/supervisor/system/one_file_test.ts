import assert from "node:assert/strict";
import { scratch } from "../../../../tests/support/project.ts";
import { oneFile } from "./one_file.ts";

Deno.test("a file that is replaced all the time is read as one whole version, under its own name", async () => {
  await using folder = await scratch({ "a.json": "0".repeat(5_000) });
  const path = folder.path("a.json");
  let isOver = false;
  const writing = (async () => {
    for (let at = 1; !isOver; at++) {
      await Deno.writeTextFile(folder.path("new"), String(at % 10).repeat(5_000));
      await Deno.rename(folder.path("new"), path);
      // As an engine does, with a pause.
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
  })();
  try {
    for (let at = 0; at < 300; at++) {
      const { real, text } = await oneFile(path, 10_000);
      assert.equal(real, path);
      assert.match(text, /^(\d)\1{4999}$/);
    }
  } finally {
    isOver = true;
    await writing;
  }
});

Deno.test({
  name: "a pipe that takes the file's place is never waited for",
  ignore: Deno.build.os === "windows",
  async fn() {
    await using folder = await scratch({ "a.txt": "text" });
    const [path, pipe, other] = [folder.path("a.txt"), folder.path("pipe"), folder.path("other")];
    assert.ok((await new Deno.Command("mkfifo", { args: [pipe] }).output()).success);
    let isOver = false;
    const swapping = (async () => {
      while (!isOver) {
        await Deno.rename(path, other);
        await Deno.rename(pipe, path);
        await Deno.rename(path, pipe);
        await Deno.rename(other, path);
      }
    })();
    try {
      for (let at = 0; at < 300; at++) {
        const text = await oneFile(path, 10).then((file) => file.text, () => "refused");
        assert.match(text, /^(text|refused)$/);
      }
    } finally {
      isOver = true;
      await swapping;
    }
  },
});

Deno.test("a folder and what is too large are refused", async () => {
  await using folder = await scratch({ "a.txt": "a", "large": "x".repeat(2_000) });
  await assert.rejects(oneFile(folder.root, 1_000), /it is not a file/);
  await assert.rejects(oneFile(folder.path("large"), 1_024), /it is larger than 1 kB/);
});
