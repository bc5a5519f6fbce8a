import assert from "node:assert/strict";
import { scratch, waitUntil } from "../../../../tests/support/project.ts";
import type { Embedder, MeaningAnswer } from "../ports/code_index.ts";
import type { Search } from "../ports/search.ts";
import { IndexFile } from "./index_file.ts";
import { LazyIndex } from "./lazy.ts";
import { ProjectIndex } from "./project_index.ts";

const FILES = {
  "src/merge.ts":
    "/** Joins an unsaved buffer with the text that a tool writes. */\nexport function joinTexts() {}\n",
  "src/clock.ts": "/** Tells the time of day. */\nexport function timeOfDay() {}\n",
  "src/secretKeys.ts": "/** Reads the zanzibar password from the vault. */\nexport function zanzibar() {}\n",
  "README.md": "# A program\n\nIt tells the time.\n",
};

type Folder = Awaited<ReturnType<typeof scratch>>;

/** A project, and its index. `hidden`: files that the model may not see. */
async function project(files: Readonly<Record<string, string | Uint8Array>> = FILES) {
  const [folder, state] = await Promise.all([scratch(files), scratch()]);
  const hidden = new Set<string>();
  const path = state.path("index.db");
  const search = listOf(folder, hidden);
  const open = (embedder?: Embedder) => {
    const index = new ProjectIndex(path, [folder.root]).of(search, embedder);
    return {
      state: index.state,
      ask: (question: string, accepts?: (name: string) => boolean) =>
        index.ask({
          question,
          most: 5,
          accepts,
          pathOf: (name) => Promise.resolve(hidden.has(name) ? undefined : realPath(folder.path(name))),
        }, new AbortController().signal),
    };
  };
  const opened = open();
  return {
    ...{ folder, place: state, hidden, path, open, search },
    ...opened,
    names: async (question: string) => namesOf(await opened.ask(question)),
    async [Symbol.asyncDispose]() {
      await folder[Symbol.asyncDispose]();
      await state[Symbol.asyncDispose]();
    },
  };
}

/** As the client lists files: those of the project, without hidden ones and without names that have line breaks. */
function listOf(folder: Folder, hidden: ReadonlySet<string>): Search {
  const under = (prefix: string): readonly string[] =>
    Array.from(Deno.readDirSync(folder.path(prefix))).flatMap(({ name, isDirectory, isFile }) => {
      const path = prefix === "" ? name : `${prefix}/${name}`;
      return isDirectory ? under(path) : isFile && !hidden.has(path) && !name.includes("\n") ? [path] : [];
    });
  return { files: () => Promise.resolve({ paths: under("").toSorted(), more: false }) } as unknown as Search;
}

function realPath(path: string): string | undefined {
  try {
    return Deno.realPathSync(path);
  } catch {
    return undefined;
  }
}

function namesOf({ hits }: MeaningAnswer): readonly string[] {
  return [...new Set(hits.map(({ name }) => name))];
}

function bytesOf(path: string): string {
  const all = ["", "-wal"].map((ending) => {
    try {
      return new TextDecoder("latin1").decode(Deno.readFileSync(path + ending));
    } catch {
      return "";
    }
  });
  return all.join("");
}

Deno.test("a question finds the file that answers it, with its best lines", async () => {
  await using at = await project();
  const { hits, notes } = await at.ask("how are unsaved buffers combined with a tool's text?");
  assert.equal(hits[0]?.name, "src/merge.ts");
  assert.equal(hits[0]?.path, at.folder.path("src/merge.ts"));
  assert.deepEqual([hits[0]?.first, hits[0]?.last], [1, 3]);
  assert.equal(hits[0]?.lines[0]?.text, "/** Joins an unsaved buffer with the text that a tool writes. */");
  assert.deepEqual(notes, []);
  assert.deepEqual(await at.names("where is timeOfDay"), ["src/clock.ts", "README.md"]);
  assert.deepEqual(namesOf(await at.ask("time", (name) => name.endsWith(".md"))), ["README.md"]);
});

Deno.test("what the best file imports is found, though it has other words", async () => {
  await using at = await project({
    ...FILES,
    "src/close.ts":
      'import { sweep } from "./broom.ts";\n/** Ends a session and tidies its rooms. */\nsweep();\n',
    "src/broom.ts": "/** Removes what nobody needs. */\nexport function sweep() {}\n",
  });
  assert.deepEqual(await at.names("how are the rooms of a session tidied"), ["src/close.ts", "src/broom.ts"]);
  await at.folder.write("src/close.ts", "/** Ends a session and tidies its rooms. */\n");
  assert.deepEqual(await at.names("how are the rooms of a session tidied"), ["src/close.ts"]);
});

Deno.test("an answer shows files as they are now", async () => {
  await using at = await project();
  await at.ask("time");
  await at.folder.write("src/clock.ts", "/** Counts the sheep of a flock. */\nexport function sheep() {}\n");
  await at.folder.write("src/new.ts", "/** Paints the giraffe of the zoo. */\n");
  assert.deepEqual(await at.names("count sheep"), ["src/clock.ts"]);
  assert.deepEqual(await at.names("giraffe"), ["src/new.ts"]);
  await Deno.remove(at.folder.path("src/clock.ts"));
  assert.deepEqual(await at.names("count sheep"), []);
});

Deno.test("a file that may not be read any more leaves no word in the database", async () => {
  await using at = await project();
  assert.deepEqual(await at.names("zanzibar password"), ["src/secretKeys.ts"]);
  assert.match(bytesOf(at.path), /zanzibar/);
  at.hidden.add("src/secretKeys.ts");
  assert.deepEqual(await at.names("zanzibar password"), []);
  assert.doesNotMatch(bytesOf(at.path), /zanzibar|anzibar|ecretKeys/);
  // The others are still found.
  assert.deepEqual(await at.names("combine buffers"), ["src/merge.ts"]);
});

Deno.test("a question may have the operators of the database", async () => {
  await using at = await project();
  for (
    const question of [
      '"time',
      "time AND",
      "NEAR(time day)",
      "time*",
      "text:time",
      "(time",
      "^time",
      "-time OR",
      "'",
    ]
  ) {
    const names = await at.names(question);
    assert.ok(question === "'" || names.includes("src/clock.ts"), question);
  }
});

Deno.test("files that are not text of a moderate size are left out, and stop nothing", async () => {
  const line = `const data = "${"zebra ".repeat(2_000_000)}";\n`;
  await using at = await project({
    ...FILES,
    "long.js": line,
    "binary.ts": new Uint8Array([122, 101, 98, 114, 97, 0, 1, 2]),
    "line\nbreak.ts": "zebra",
    "minified.js": `zebra ${"x".repeat(300_000)} unicorn`,
  });
  const large = await Deno.open(at.folder.path("large.ts"), { create: true, write: true });
  await large.truncate(200_000_000);
  large.close();
  await Deno.symlink("/etc/passwd", at.folder.path("link.ts"));
  assert.deepEqual(await at.names("zebra"), ["minified.js"]);
  assert.deepEqual(await at.names("unicorn"), []);
  const { files } = await at.state();
  assert.equal(files, 8);
});

Deno.test("a damaged, foreign or missing database is built anew", async () => {
  await using at = await project();
  await at.ask("time");
  const whole = await Deno.readFile(at.path);
  const foreign = at.place.path("foreign");
  const damages: readonly (() => unknown)[] = [
    () => Deno.truncateSync(at.path, 5_000),
    () => Deno.writeTextFileSync(at.path, "no database"),
    () => Deno.writeFileSync(at.path, whole.map((byte, at) => at > 4_000 ? byte ^ 85 : byte)),
    () => Deno.mkdirSync(at.path),
    () => {
      Deno.writeTextFileSync(foreign, "the user's file");
      Deno.symlinkSync(foreign, at.path);
    },
    () => Deno.symlinkSync(at.place.path("missing"), at.path),
    () => undefined,
  ];
  for (const damage of damages) {
    for (const ending of ["", "-wal", "-shm"]) await Deno.remove(at.path + ending).catch(() => {});
    await Deno.writeFile(at.path, whole);
    if (/mkdir|symlink|undefined/.test(String(damage))) await Deno.remove(at.path);
    damage();
    assert.deepEqual(
      namesOf(await at.open().ask("time of day")),
      ["src/clock.ts", "README.md"],
      String(damage),
    );
  }
  assert.equal(await Deno.readTextFile(foreign), "the user's file");
  assert.equal(await realPath(at.place.path("missing")), undefined);
});

Deno.test("a folder with files at the database's place is not touched", async () => {
  await using at = await project();
  await at.place.write("index.db/precious", "text");
  await assert.rejects(at.ask("time"), /^ToolError: Cannot search by meaning: .*index\.db/);
  assert.equal(await at.place.read("index.db/precious"), "text");
});

Deno.test("two engines of a project share one index", async () => {
  await using at = await project();
  const other = at.open();
  const answers = await Promise.all([at.ask("time of day"), other.ask("time of day"), at.ask("buffers")]);
  assert.equal(namesOf(answers[0])[0], "src/clock.ts");
  await at.folder.write("src/clock.ts", "/** Counts sheep. */\n");
  const [one, two] = await Promise.all([other.ask("sheep"), at.ask("sheep")]);
  assert.deepEqual([namesOf(one), namesOf(two)], [["src/clock.ts"], ["src/clock.ts"]]);
});

Deno.test("an index that another engine has deleted is not used any more", async () => {
  await using at = await project();
  const other = at.open();
  assert.deepEqual(await at.names("combine buffers"), ["src/merge.ts"]);
  await other.state("delete");
  assert.equal((await at.state()).state, "none");
  assert.deepEqual(await at.names("combine buffers"), ["src/merge.ts"]);
  assert.ok(Deno.statSync(at.path).size > 0);
});

Deno.test("the state of the index, and its deletion", async () => {
  await using at = await project();
  assert.deepEqual(await at.state(), { state: "none", files: 0, chunks: 0, total: 0, bytes: 0, vectors: 0 });
  assert.equal(await realPath(at.path), undefined);
  assert.equal((await at.state("build")).state, "building");
  await at.ask("time");
  const { state, files, chunks, total, bytes } = await at.state();
  assert.deepEqual({ state, files, chunks, total }, { state: "ready", files: 4, chunks: 4, total: 4 });
  assert.ok(bytes > 10_000);
  await at.state("rebuild");
  assert.deepEqual((await at.names("time of day"))[0], "src/clock.ts");
  assert.equal((await at.state("delete")).state, "none");
  assert.deepEqual(Array.from(Deno.readDirSync(at.place.root), ({ name }) => name), ["index.db.lock"]);
});

Deno.test("many files that were deleted at once leave the index", async () => {
  await using at = await project();
  await Deno.mkdir(at.folder.path("many"));
  for (let i = 0; i < 500; i++) {
    Deno.writeTextFileSync(at.folder.path(`many/file${i}.ts`), `walrus number${i}\n`);
  }
  await at.ask("walrus");
  assert.equal((await at.state()).files, 504);
  await Deno.remove(at.folder.path("many"), { recursive: true });
  assert.deepEqual(await at.names("walrus"), []);
  assert.equal((await at.state()).files, 4);
});

/** Texts about the same thing point in the same direction, whatever their words are. */
function themes(fails: () => boolean = () => false): Embedder & { readonly texts: string[] } {
  const THEMES = [/buffer|scrollback/i, /time|o'clock/i, /password|zanzibar/i, /program/i];
  const texts: string[] = [];
  return {
    texts,
    model: "local/nomic-embed-text",
    embed(list) {
      if (fails()) return Promise.reject(new Error("Cannot ask local for embeddings: no answer."));
      texts.push(...list);
      return Promise.resolve(
        list.map((text) => Int8Array.from(THEMES, (theme) => theme.test(text) ? 64 : 0)),
      );
    },
  };
}

Deno.test("with embeddings, a question needs no word of the file; the model may fail", async () => {
  await using at = await project();
  let isDown = true;
  const embedder = themes(() => isDown);
  const index = at.open(embedder);
  const vectors = async (count: number) => {
    while ((await index.state()).vectors !== count) {
      await index.ask("time");
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  };
  assert.deepEqual(namesOf(await index.ask("scrollback")), []);
  // While it tries again, there is nothing to note.
  const { hits, notes } = await waitUntil("a note", async () => {
    const answer = await index.ask("time of day");
    return answer.notes.length > 0 && answer;
  });
  assert.equal(hits[0]?.name, "src/clock.ts");
  assert.deepEqual(notes, ["Cannot ask local for embeddings: no answer."]);
  isDown = false;
  await vectors(4);
  assert.equal(namesOf(await index.ask("scrollback"))[0], "src/merge.ts");
  const sent = embedder.texts.filter((text) => text.startsWith("search_document: "));
  assert.equal(sent.length, 4);
  assert.ok(sent.some((text) => text.startsWith("search_document: src/merge.ts\n/** Joins an unsaved")));
  assert.ok(embedder.texts.includes("search_query: scrollback"));
  at.hidden.add("src/merge.ts");
  assert.ok(!namesOf(await index.ask("scrollback")).includes("src/merge.ts"));
  await vectors(3);
  isDown = true;
  const alone = await index.ask("time of day");
  assert.equal(alone.hits[0]?.name, "src/clock.ts");
  assert.deepEqual(alone.notes, ["Ranked by words alone. Cannot ask local for embeddings: no answer."]);
});

Deno.test("an engine brings an existing index up to date, and makes none", async () => {
  await using at = await project();
  const names = () => {
    using index = IndexFile.open(at.path);
    return index.files("", 10).map(({ path }) => path);
  };
  new LazyIndex(at.place.path("other"), [at.folder.root]).of(at.search);
  await at.ask("time");
  await at.folder.write("src/new.ts", "/** Paints the giraffe of the zoo. */\n");
  at.hidden.add("src/secretKeys.ts");
  new LazyIndex(at.place.root, [at.folder.root]).of(at.search);
  while (!names().includes("src/new.ts")) await new Promise((resolve) => setTimeout(resolve, 100));
  assert.deepEqual(names(), ["README.md", "src/clock.ts", "src/merge.ts", "src/new.ts"]);
  assert.equal(realPath(at.place.path("other")), undefined);
});
