import assert from "node:assert/strict";
import { asked } from "../../../../../tests/support/entries.ts";
import { runs } from "../../../../../tests/support/runs.ts";
import { join } from "node:path";
import fc from "fast-check";
import { ABSENT, type CheckpointKind, type FileRecord, type Snapshot } from "../../log/checkpoints.ts";
import { Database } from "../../store/database.ts";
import { SqliteStore } from "../../store/sqlite.ts";
import { Reviews } from "./reviews.ts";
import { whoWrote } from "./why.ts";

const SESSION = "s";

interface Listed {
  readonly name: string;
  readonly kind: string;
  readonly opaque?: true;
  readonly baseline?: string | undefined;
  readonly after?: string | undefined;
  readonly counts?: string;
}

/** A project folder whose changes are recorded as tools would. */
class Project implements AsyncDisposable {
  readonly store: SqliteStore;
  readonly reviews: Reviews;
  readonly #folder: string;
  readonly #database = Database.inMemory();
  #turn = 0;

  constructor(folder: string) {
    this.#folder = folder;
    this.store = new SqliteStore(this.#database, (changes) => this.reviews.recorded(changes));
    this.reviews = new Reviews(this.store.reviews, this.store.blobs, [folder]);
    this.store.createSession({ id: SESSION, root: folder, model: "m" });
  }

  static async make(): Promise<Project> {
    return new Project(await Deno.realPath(await Deno.makeTempDir()));
  }

  path(name: string): string {
    return join(this.#folder, name);
  }

  image(content: string | Uint8Array | undefined): Snapshot {
    if (content === undefined) return ABSENT;
    const bytes = typeof content === "string" ? new TextEncoder().encode(content) : content;
    return { type: "file", mode: 0o644, blob: this.store.blobs.put(bytes) };
  }

  /** On disk only: the user, or what a tool did before it was recorded. */
  async put(name: string, content: string | Uint8Array | undefined): Promise<void> {
    const path = this.path(name);
    if (content === undefined) return await Deno.remove(path).catch(() => {});
    await Deno.writeFile(path, typeof content === "string" ? new TextEncoder().encode(content) : content, {
      mode: 0o644,
    });
    await Deno.chmod(path, 0o644);
  }

  record(kind: CheckpointKind, files: readonly FileRecord[]): void {
    this.store.append(SESSION, { entries: [asked(`message ${++this.#turn}`)] });
    const turn = this.store.turn(SESSION);
    const id = this.store.checkpoints.begin({ session: SESSION, turn, kind }, []);
    this.store.checkpoints.finish(id, files);
  }

  /** The agent turns one content into another. */
  async change(
    name: string,
    before: string | Uint8Array | undefined,
    after: string | Uint8Array | undefined,
    kind: CheckpointKind = "tool",
  ): Promise<void> {
    await this.put(name, after);
    this.record(kind, [{ path: this.path(name), before: this.image(before), after: this.image(after) }]);
  }

  async listed(): Promise<Listed[]> {
    const files = await this.reviews.list(undefined, true);
    return files.map(({ path, kind, baseline, after, opaque, added, removed }) => ({
      name: path.slice(this.#folder.length + 1),
      kind,
      ...(opaque ? { opaque } : { baseline, after, counts: `+${added} −${removed}` }),
    }));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#database[Symbol.dispose]();
    await Deno.remove(this.#folder, { recursive: true });
  }
}

Deno.test("the first text before stays the baseline while the agent goes on", async () => {
  await using project = await Project.make();
  await project.change("a", "1\n2\n3\n", "1\nB\n3\n");
  await project.change("a", "1\nB\n3\n", "1\nB\nC\n");
  assert.deepEqual(await project.listed(), [
    { name: "a", kind: "modified", baseline: "1\n2\n3\n", after: "1\nB\nC\n", counts: "+2 −2" },
  ]);
  await project.change("a", "1\nB\nC\n", "1\n2\n3\n");
  assert.deepEqual(await project.listed(), [], "the agent has changed it back");
});

Deno.test("what the user changes between two writes, or since, is agreed to", async () => {
  await using project = await Project.make();
  const lines = (...changed: string[]) => changed.concat("x", "y", "z", "end").join("\n") + "\n";
  await project.change("a", lines("1", "2"), lines("1", "B"));
  await project.put("a", "mine\n" + lines("1", "B"));
  assert.deepEqual((await project.listed())[0]?.baseline, "mine\n" + lines("1", "2"));
  await project.change("a", "mine\n" + lines("1", "B"), "mine\n" + lines("1", "B").replace("end", "END"));
  assert.deepEqual((await project.listed()).map(({ baseline, counts }) => [baseline, counts]), [
    ["mine\n" + lines("1", "2"), "+2 −2"],
  ]);
  await project.put("a", "mine\n" + lines("1", "typed").replace("end", "END"));
  const [file] = await project.listed();
  assert.equal(file?.baseline, "mine\n" + lines("1", "2"), "within what the agent wrote it is not");
});

Deno.test("keeping moves the baseline, settling forgets, and saving text that came back is noted", async () => {
  await using project = await Project.make();
  await project.change("a", "1\n2\n3\n", "A\n2\nC\n");
  const path = project.path("a");
  await project.reviews.update({ path, baseline: "A\n2\n3\n", settled: false });
  assert.deepEqual((await project.listed()).map(({ counts }) => counts), ["+1 −1"]);
  await project.reviews.update({ path, baseline: "A\n2\nC\n", settled: false });
  assert.deepEqual(await project.listed(), []);
  await project.put("a", "A\n2\nD\n");
  await project.reviews.update({ path, baseline: "A\n2\nC\n", settled: false });
  assert.deepEqual((await project.listed()).map(({ baseline }) => baseline), ["A\n2\nC\n"]);
  await project.reviews.update({ path, settled: true });
  assert.deepEqual(await project.listed(), []);
});

Deno.test("created, deleted, moved and binary files", async () => {
  await using project = await Project.make();
  await project.change("new", undefined, "1\n");
  await project.change("gone", "1\n2\n", undefined);
  await project.change("bin", Uint8Array.of(0, 1), Uint8Array.of(0, 2));
  await project.put("to", "moved\n");
  const moved = project.image("moved\n");
  project.record("tool", [
    { path: project.path("from"), before: moved, after: ABSENT },
    { path: project.path("to"), renamedFrom: project.path("from"), before: ABSENT, after: moved },
  ]);
  assert.deepEqual(await project.listed(), [
    { name: "bin", kind: "modified", opaque: true },
    { name: "gone", kind: "deleted", baseline: "1\n2\n", after: undefined, counts: "+0 −2" },
    { name: "new", kind: "created", baseline: undefined, after: "1\n", counts: "+1 −0" },
    { name: "to", kind: "renamed", baseline: "moved\n", after: "moved\n", counts: "+0 −0" },
  ]);
  await project.change("new", "1\n", undefined);
  // Back where it was.
  await project.put("from", "moved\n");
  await project.put("to", undefined);
  project.record("undo", [
    { path: project.path("from"), renamedFrom: project.path("to"), before: ABSENT, after: moved },
    { path: project.path("to"), before: moved, after: ABSENT },
  ]);
  assert.deepEqual((await project.listed()).map(({ name }) => name), ["bin", "gone"]);
});

Deno.test("the encoding of a file is that of its baseline", async () => {
  await using project = await Project.make();
  const latin = (text: string) => Uint8Array.from([...text].map((character) => character.charCodeAt(0)));
  await project.change("a", latin("é\n1\n"), latin("é\n2\n"));
  const path = project.path("a");
  await project.put("a", latin("é\n2\n3\n"));
  await project.reviews.update({ path, baseline: "é\n1\n3\n", settled: false });
  assert.deepEqual(project.reviews.get(path)?.before, project.image(latin("é\n1\n3\n")));
  await assert.rejects(project.reviews.update({ path, baseline: "日\n", settled: false }), /cannot hold/);
});

Deno.test("undoing what was kept leaves nothing; doing it again is to be looked at", async () => {
  await using project = await Project.make();
  await project.change("a", "1\n2\n3\n4\n", "A\n2\n3\nD\n");
  await project.reviews.update({ path: project.path("a"), baseline: "A\n2\n3\n4\n", settled: false });
  await project.change("a", "A\n2\n3\nD\n", "1\n2\n3\n4\n", "undo");
  assert.deepEqual(await project.listed(), []);
  await project.change("a", "1\n2\n3\n4\n", "A\n2\n3\nD\n", "redo");
  assert.deepEqual((await project.listed()).map(({ counts }) => counts), ["+2 −2"]);
});

Deno.test("however often the agent writes, taking everything back gives what was there at first", async () => {
  await using project = await Project.make();
  const texts = fc.array(fc.constantFrom("a\n", "b\n", "c\n"), { maxLength: 6 }).map((lines) =>
    lines.join("")
  );
  let file = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(texts, { minLength: 2, maxLength: 6 }), async (versions) => {
      const name = `f${++file}`;
      for (const [at, text] of versions.slice(1).entries()) {
        const before = versions[at] ?? "";
        if (before !== text) await project.change(name, before, text);
      }
      await project.put(name, versions.at(-1));
      const shown = (await project.listed()).find((one) => one.name === name);
      if (versions[0] === versions.at(-1)) assert.equal(shown, undefined);
      else assert.deepEqual([shown?.baseline, shown?.after], [versions[0], versions.at(-1)]);
    }),
    { ...runs(60), seed: 3 },
  );
});

Deno.test("a new file whose content is not stored is not gone through", async () => {
  await using project = await Project.make();
  const unknown = { type: "file", mode: 0o644, blob: "0".repeat(64) } as const;
  project.reviews.recorded([
    {
      path: project.path("built.js"),
      session: SESSION,
      turn: 1,
      kind: "tool",
      before: ABSENT,
      after: unknown,
    },
    {
      path: project.path("mine.js"),
      session: SESSION,
      turn: 1,
      kind: "tool",
      before: ABSENT,
      after: project.image("1"),
    },
  ]);
  await project.put("built.js", "2");
  await project.put("mine.js", "1");
  const listed = await project.reviews.list(undefined, false);
  assert.deepEqual(listed.map(({ path }) => path), [project.path("mine.js")]);
});

Deno.test("why: a line is followed through later changes, moves, undo and redo", async () => {
  await using project = await Project.make();
  const origin = {
    versions: (path: string, before?: number) => project.store.reviews.versions(path, before),
    contents: project.store.blobs,
  };
  const turnOf = (name: string, line: number, text: string) =>
    whoWrote(project.path(name), line, text, origin)?.turn;
  await project.change("a", "user 1\nuser 2\n", "user 1\nfirst\nuser 2\n"); // turn 1
  await project.change("a", "user 1\nfirst\nuser 2\n", "user 1\nfirst\nuser 2\nsecond\n"); // 2
  const text = "typed\nuser 1\nfirst\nuser 2\nsecond\n";
  assert.deepEqual([1, 2, 3, 4, 5, 6].map((line) => turnOf("a", line, text)), [
    undefined,
    undefined,
    1,
    undefined,
    2,
    undefined,
  ]);

  const moved = project.image("user 1\nfirst\nuser 2\nsecond\n");
  project.record("tool", [ // 3
    { path: project.path("a"), before: moved, after: ABSENT },
    { path: project.path("b"), renamedFrom: project.path("a"), before: ABSENT, after: moved },
  ]);
  assert.deepEqual([2, 3, 5].map((line) => turnOf("b", line, text)), [undefined, 1, 2]);

  await project.change("b", "user 1\nfirst\nuser 2\nsecond\n", "gone\n"); // 4
  await project.change("b", "gone\n", "user 1\nfirst\nuser 2\nsecond\n", "undo"); // 5
  assert.deepEqual([2, 3, 5].map((line) => turnOf("b", line, text)), [undefined, 1, 2]);
  await project.change("b", "user 1\nfirst\nuser 2\nsecond\n", "gone\n", "redo"); // 6
  assert.equal(turnOf("b", 1, "gone\n"), 4);
});
