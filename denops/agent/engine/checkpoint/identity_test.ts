/** Whatever was done to files: undone it never was, done again it is. Random, with fixed seeds. */
import assert from "node:assert/strict";
import { dirname } from "node:path";
import fc from "fast-check";
import { type Kept, keptFolder } from "../../../../tests/support/checkpoints.ts";

const PATHS = ["a.txt", "b.bin", "d/c.txt", "d/e/f.txt", "d/e", "d", "g", "g/h"] as const;
const CONTENTS: readonly Uint8Array[] = [
  new TextEncoder().encode("one\ntwo\nthree\n"),
  new TextEncoder().encode("one\r\nTWO"),
  new Uint8Array([0, 1, 2, 255, 0]),
  new Uint8Array(),
];

const path = fc.constantFrom(...PATHS);
const operation = fc.oneof(
  fc.record({ op: fc.constant("write" as const), path, content: fc.constantFrom(...CONTENTS) }),
  fc.record({ op: fc.constant("append" as const), path }),
  fc.record({ op: fc.constant("delete" as const), path }),
  fc.record({ op: fc.constant("move" as const), path, to: path }),
  fc.record({ op: fc.constant("chmod" as const), path, mode: fc.constantFrom(0o600, 0o644, 0o755) }),
  fc.record({ op: fc.constant("link" as const), path, target: fc.constantFrom("a.txt", "nowhere", "d") }),
  fc.record({ op: fc.constant("folder" as const), path }),
);
type Operation = typeof operation extends fc.Arbitrary<infer One> ? One : never;

type Author = "tool" | "command";
const author = fc.constantFrom<Author>("tool", "command");

/** Does it if the file system lets it; else some of it, or nothing. */
async function perform(operation: Operation, { project }: Kept, by: Author): Promise<void> {
  const at = project.path(operation.path);
  try {
    switch (operation.op) {
      case "write":
        await Deno.mkdir(dirname(at), { recursive: true });
        return await Deno.writeFile(at, operation.content);
      case "append":
        return await Deno.writeTextFile(at, "more\n", { append: true, create: false });
      case "delete":
        return await Deno.remove(at);
      case "move":
        // What is in a folder would go where no tool has said.
        if (by === "tool" && (await Deno.lstat(at)).isDirectory) return;
        return await Deno.rename(at, project.path(operation.to));
      case "chmod":
        return await Deno.chmod(at, operation.mode);
      case "link":
        return await Deno.symlink(operation.target, at);
      case "folder":
        return await Deno.mkdir(at, { recursive: true });
    }
  } catch {
    return;
  }
}

/** All that an operation may change: links lead on, folders go with what is in them. */
const EVERYTHING: readonly string[] = ["", "d/", "d/e/", "g/"].flatMap((folder) =>
  ["a.txt", "b.bin", "c.txt", "d", "e", "f.txt", "g", "h", "nowhere"].map((name) => folder + name)
);

Deno.test("undo of all turns is identity, redo of all is what was", async () => {
  const turns = fc.array(fc.array(fc.tuple(author, operation), { minLength: 1, maxLength: 4 }), {
    minLength: 1,
    maxLength: 4,
  });
  await fc.assert(
    fc.asyncProperty(turns, async (turns) => {
      await using kept = await keptFolder({ files: { "a.txt": "one\ntwo\n", "d/c.txt": "see\n" } });
      const trees = [await kept.tree()];
      for (const operations of turns) {
        kept.nextTurn();
        for (const [by, one] of operations) {
          const act = () => perform(one, kept, by);
          await (by === "tool" ? kept.tool(EVERYTHING, act) : kept.command(act));
        }
        trees.push(await kept.tree());
      }
      const undoable = (await kept.checkpoints.turns()).length;
      for (let count = 0; count < undoable; count++) await kept.undo();
      assert.deepEqual(await kept.tree(), trees[0]);
      for (let count = 0; count < undoable; count++) await kept.redo();
      assert.deepEqual(await kept.tree(), trees.at(-1));
      const first = (await kept.checkpoints.turns())[0];
      if (first === undefined) return;
      await kept.restore(first.turn);
      assert.deepEqual(await kept.tree(), trees[0]);
      await kept.redo();
      assert.deepEqual(await kept.tree(), trees.at(-1));
    }),
    { numRuns: 40, seed: 7 },
  );
});
