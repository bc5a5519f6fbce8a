import assert from "node:assert/strict";
import { waitUntil } from "../../../../tests/support/project.ts";
import { ErrorLines, Pipes } from "./pipes.ts";

function isThere(pid: number): boolean {
  try {
    Deno.kill(pid, "SIGTERM");
    return true;
  } catch {
    return false;
  }
}

function program(script: string) {
  const options = { stdin: "piped", stdout: "piped", stderr: "piped", detached: true } as const;
  return { process: new Deno.Command("sh", { args: ["-c", script], ...options }).spawn() };
}

/** All of its output, and how it ended. */
async function readAll(pipes: Pipes, pipe: string) {
  let output = "";
  for (;;) {
    const { text, ended } = await pipes.read(pipe);
    output += text;
    if (ended !== undefined) return { output, ended };
  }
}

Deno.test("what is written reaches the program, and its output and end come back whole", async () => {
  await using pipes = new Pipes();
  const errors = new ErrorLines();
  const pipe = pipes.add(program('cat; echo "Error: no luck" >&2; echo later >&2; exit 3'), errors);
  const text = "ä€😀\n".repeat(50_000);
  const reading = (async () => {
    let output = "";
    while (output.length < text.length) output += (await pipes.read(pipe)).text;
    return output;
  })();
  await pipes.write(pipe, text);
  assert.equal(await reading, text);
  await assert.rejects(Promise.all([pipes.read(pipe), pipes.read(pipe)]), /already being read/);
  pipes.close(pipe);
  await assert.rejects(pipes.write(pipe, "x"), /not open/);
});

Deno.test("a program that ends says why", async () => {
  await using pipes = new Pipes();
  const errors = new ErrorLines();
  const pipe = pipes.add(program('seq 100 >&2; echo "Error: no luck" >&2; echo bye; exit 3'), errors);
  assert.deepEqual(await readAll(pipes, pipe), { output: "bye\n", ended: "exit code 3: Error: no luck" });
  assert.equal(errors.lines.length, 50);
});

Deno.test("a program that ignores the end of its input is killed with its children", async () => {
  const pipes = new Pipes();
  const { process } = program("trap '' TERM; sleep 1000 & sleep 1000");
  const pipe = pipes.add({ process }, new ErrorLines());
  pipes.close(pipe);
  await pipes[Symbol.asyncDispose]();
  assert.notEqual((await process.status).signal, null);
  await waitUntil("the group to end", () => !isThere(-process.pid));
});

Deno.test("only the byte order mark at the beginning of the output is left out", async () => {
  for (const begin of ["", "\uFEFF"]) {
    await using pipes = new Pipes();
    const pipe = pipes.add(program("cat"), new ErrorLines());
    for (const [written, read] of [[`${begin}a\n`, "a\n"], ["\uFEFFb\n", "\uFEFFb\n"]] as const) {
      await pipes.write(pipe, written);
      assert.deepEqual(await pipes.read(pipe), { text: read });
    }
    pipes.close(pipe);
  }
});
