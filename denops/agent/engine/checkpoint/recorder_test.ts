/** What the real session keeps of the calls of a scripted model. */
import assert from "node:assert/strict";
import * as z from "../../deps/zod.ts";
import { type RunningEngine, startEngine } from "../../../../tests/support/engine_session.ts";
import { noEditor } from "../acp/editor.ts";
import type { Snapshot } from "../log/checkpoints.ts";
import type { Editor } from "../ports/editor.ts";
import { defineTool, files, type Tool } from "../tools/define.ts";

type Shown = readonly [path: string, before: string, after: string];

/** The newest checkpoint's files, with paths and contents as text. */
function recorded(engine: RunningEngine): readonly Shown[] {
  const checkpoint = engine.store.checkpoints.list("s1").at(-1);
  return (checkpoint?.files ?? []).map(({ path, renamedFrom, before, after }) => {
    const short = (long: string) => long.slice(engine.project.root.length + 1);
    const name = renamedFrom === undefined ? short(path) : `${short(renamedFrom)} → ${short(path)}`;
    return [name, shown(engine, before), shown(engine, after)] as const;
  });
}

function shown(engine: RunningEngine, image: Snapshot): string {
  switch (image.type) {
    case "file":
      return `${image.mode?.toString(8)} ${new TextDecoder().decode(engine.store.blobs.get(image.blob))}`;
    case "link":
      return `→ ${image.target}`;
    default:
      return image.type;
  }
}

const WRITES: readonly (readonly [what: string, call: string, files: readonly Shown[]])[] = [
  [
    "a new file, and the folders that it needs",
    'call write_file {"path": "x/y/new.txt", "content": "new"}',
    [["x", "absent", "folder"], ["x/y", "absent", "folder"], ["x/y/new.txt", "absent", "644 new"]],
  ],
  [
    "an edit, with the mode",
    'call read_file {"path": "run.sh"}\n---\n' +
    'call edit_file {"path": "run.sh", "old_str": "one", "new_str": "two"}',
    [["run.sh", "755 one\n", "755 two\n"]],
  ],
  [
    "a write through a link: the target",
    'call read_file {"path": "link"}\n---\ncall write_file {"path": "link", "content": "new"}',
    [["a.txt", "644 alpha\n", "644 new"]],
  ],
  ["a deleted link: not its target", 'call delete_file {"path": "link"}', [["link", "→ a.txt", "absent"]]],
  ["a deleted file", 'call delete_file {"path": "a.txt"}', [["a.txt", "644 alpha\n", "absent"]]],
  [
    "a move into a new folder",
    'call move_file {"from": "a.txt", "to": "sub/b.txt"}',
    [["a.txt", "644 alpha\n", "absent"], ["sub", "absent", "folder"], [
      "a.txt → sub/b.txt",
      "absent",
      "644 alpha\n",
    ]],
  ],
];

for (const [what, call, files] of WRITES) {
  Deno.test(`recorded: ${what}`, async () => {
    await using engine = await startEngine({ script: `${call}\n---\nsay Done` });
    await engine.project.write("a.txt", "alpha\n");
    await engine.project.write("run.sh", "one\n");
    await Deno.chmod(engine.project.path("run.sh"), 0o755);
    await Deno.symlink("a.txt", engine.project.path("link"));
    await engine.prompt("Go");
    assert.deepEqual(recorded(engine), files);
  });
}

/** Writes half of what it was to write. @param look called before it writes */
function failing(look: () => void = () => {}): Tool {
  return defineTool({
    name: "failing",
    description: "Fails.",
    kind: "edit",
    readOnly: false,
    schema: z.object({ path: z.string() }),
    title: () => "failing",
    async prepare({ path }, { workspace }) {
      const target = await workspace.resolve(path);
      return {
        access: files(["write", target]),
        async run() {
          look();
          await Deno.writeTextFile(target.path, "half");
          throw new Error("no more");
        },
      };
    },
  });
}

Deno.test("what a call that failed has changed is kept too, and a call that changed nothing leaves nothing", async () => {
  await using engine = await startEngine({
    files: { "a.txt": "alpha\n" },
    tools: [failing()],
    script: 'call failing {"path": "a.txt"}\ncall delete_file {"path": "none"}\n---\nsay Done',
  });
  await engine.prompt("Go");
  assert.deepEqual(recorded(engine), [["a.txt", "644 alpha\n", "644 half"]]);
  assert.equal(engine.store.checkpoints.list("s1").length, 1);
});

Deno.test("the image before is in the store when the write begins", async () => {
  const before: unknown[] = [];
  const look = () => before.push(engine.store.checkpoints.list("s1")[0]?.finished, recorded(engine));
  await using engine: RunningEngine = await startEngine({
    files: { "a.txt": "alpha\n" },
    tools: [failing(look)],
    script: 'call failing {"path": "a.txt"}\n---\nsay Done',
  });
  await engine.prompt("Go");
  assert.deepEqual(before, [false, [["a.txt", "644 alpha\n", "absent"]]]);
});

Deno.test("a write into a buffer with unsaved text: what stood there just before was before, whatever the disk has", async () => {
  let buffer = "unsaved\nalpha\n";
  const editor: Editor = {
    ...noEditor,
    unsavedText: () => Promise.resolve(buffer),
    writeUnsaved(_path, _base, text) {
      // Typed while an approval waited.
      const before = `typed ${buffer}`;
      buffer = `typed ${text}`;
      return Promise.resolve({ status: "merged", before, text: buffer, saved: false });
    },
  };
  await using engine = await startEngine({
    files: { "a.txt": "alpha\n" },
    editor,
    script: 'call read_file {"path": "a.txt"}\n---\n' +
      'call edit_file {"path": "a.txt", "old_str": "alpha", "new_str": "omega"}\n---\nsay Done',
  });
  await engine.prompt("Go");
  assert.deepEqual(recorded(engine), [["a.txt", "644 typed unsaved\nalpha\n", "644 typed unsaved\nomega\n"]]);
});

Deno.test("a file over 10 MB is kept in parts, and comes back as it was", async () => {
  const bytes = new Uint8Array(11_000_000).map((_, at) => (at * 31) ^ (at >> 9));
  await using engine = await startEngine({
    files: { "big.bin": bytes },
    script: 'call delete_file {"path": "big.bin"}\n---\nsay Done',
  });
  await engine.prompt("Go");
  const image = engine.store.checkpoints.list("s1")[0]?.files[0]?.before;
  assert.ok(image?.type === "file");
  assert.deepEqual(engine.store.blobs.get(image.blob), bytes);
});
