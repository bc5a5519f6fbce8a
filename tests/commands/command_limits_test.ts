/** What one command may take of the machine, while others want it too. */
import assert from "node:assert/strict";
import { getPriority } from "node:os";
import { commandRunner } from "../support/command_sandbox.ts";
import { scratch } from "../support/project.ts";

const ignore = Deno.build.os !== "linux";

/** Threads of the whole machine. */
function threads(): number {
  const [, , , tasks = ""] = Deno.readTextFileSync("/proc/loadavg").split(" ");
  return Number(tasks.split("/")[1]);
}

/** Threads of the machine at most from here on. */
function peak(): Disposable & { readonly most: number } {
  let most = threads();
  const timer = setInterval(() => most = Math.max(most, threads()), 20);
  return {
    get most() {
      return most;
    },
    [Symbol.dispose]: () => clearInterval(timer),
  };
}

/** Programs that compute until they are disposed of, each for two seconds of CPU time at most. */
function busy(count: number): AsyncDisposable {
  const args = ["-c", "ulimit -t 2; while :; do :; done"];
  const hogs = Array.from({ length: count }, () => new Deno.Command("sh", { args, stderr: "null" }).spawn());
  return {
    async [Symbol.asyncDispose]() {
      await Promise.all(hogs.map((hog) => hog[Symbol.asyncDispose]()));
    },
  };
}

Deno.test({
  name: "a fork bomb is ended before anybody notices, on a busy machine too",
  ignore,
  async fn() {
    await using folder = await scratch({ "a.txt": "a\n" });
    await using state = await scratch({});
    await using _hogs = busy(4);
    const before = threads();
    using counted = peak();
    const { end } = await commandRunner([folder.root], state.root).run("write", ":(){ :|:& };: ; sleep 20");
    assert.deepEqual(end, { type: "too_many_processes", limit: 512 });
    assert.ok(counted.most - before < 4_000, `${counted.most - before} threads`);
  },
});

Deno.test({
  name: "commands come after whoever works in Neovim",
  ignore,
  async fn() {
    await using folder = await scratch({ "a.txt": "a\n" });
    await using state = await scratch({});
    const { output } = await commandRunner([folder.root], state.root).run(
      "look",
      "nice; cat /proc/self/autogroup",
    );
    const nice = Math.min(19, getPriority() + 10);
    assert.match(output, new RegExp(`^${nice}\n(/autogroup-\\d+ nice 10\n)?$`));
  },
});
