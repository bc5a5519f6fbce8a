/** A session's scratch folder, through its tools and over its life. */
import assert from "node:assert/strict";
import { dirname, join } from "node:path";
import { objects, string } from "../../../../../tests/model/model_messages.ts";
import { type RunningEngine, startEngine } from "../../../../../tests/support/engine_session.ts";
import { scratch } from "../../../../../tests/support/project.ts";
import { Database } from "../../store/database.ts";
import { Scratch } from "./scratch.ts";

/** @param script of the turns after the first, once the folder is known */
async function play(state: string, script: (folder: string, root: string) => string): Promise<RunningEngine> {
  const database = await Database.openIn(state);
  const engine = await startEngine({ script: "say Hm.", files: { "a.txt": "mine\n" }, database });
  await engine.prompt("Hello");
  const system = string(objects(engine.server.requests[0]?.body.messages)[0]?.content) ?? "";
  const [folder = ""] = /\S+(?=\n\nYou work in mode|$)/.exec(system) ?? [];
  assert.equal(folder, join(await Deno.realPath(state), "scratch", "s1"));
  engine.server.play(script(folder, engine.project.root));
  await engine.prompt("Go on");
  return engine;
}

function call(name: string, args: unknown): string {
  return `call ${name} ${JSON.stringify(args)}`;
}

Deno.test("its files are written, read, listed and deleted unasked, and recorded nowhere", async () => {
  await using place = await scratch();
  await using engine = await play(place.root, (folder) =>
    [
      call("write_file", { path: `${folder}/deep/note.md`, content: "one\n" }),
      call("edit_file", { path: `${folder}/deep/note.md`, old_str: "one", new_str: "two" }),
      call("read_file", { path: `${folder}/deep/note.md` }),
      call("list_directory", { path: folder }),
      call("write_file", { path: `${folder}/AGENTS.md`, content: "x\n" }),
      call("delete_file", { path: `${folder}/AGENTS.md` }),
      call("move_file", { from: "a.txt", to: `${folder}/a.txt` }),
      "say Done.",
    ].join("\n---\n"));
  assert.deepEqual(engine.asked, []);
  const results = engine.results();
  assert.match(results[2] ?? "", /^1\ttwo/);
  assert.match(results[3] ?? "", /^deep\/$/m);
  assert.match(results[6] ?? "", /Nothing is moved between the project and the scratch folder/);
  assert.equal(await engine.project.read("a.txt"), "mine\n");
  const types = new Set(engine.events.map(({ type }) => type));
  assert.ok(!types.has("file_modified") && !types.has("turn_files"));
  await assert.rejects(engine.session.takeBack({ kind: "undo", turn: undefined }), /[Nn]othing to undo/);
});

Deno.test("no link in it, and no name, leads anywhere else", async () => {
  await using place = await scratch();
  await using outside = await scratch({ "secret.txt": "SECRET\n" });
  await using engine = await play(place.root, (folder) => {
    Deno.symlinkSync(outside.root, join(folder, "out"));
    Deno.symlinkSync(outside.path("secret.txt"), join(folder, "file"));
    Deno.symlinkSync(outside.path("new.txt"), join(folder, "nothing"));
    const other = join(dirname(folder), "s2");
    Deno.mkdirSync(other);
    Deno.writeTextFileSync(join(other, "note"), "SECRET of another\n");
    const paths = [
      ...["out/secret.txt", "file", "../s2/note", "../../agent.db", "out/../../s2/note"].map((name) =>
        `${folder}/${name}`
      ),
      ...[dirname(folder), outside.path("secret.txt"), `${folder}2/x`],
    ];
    return [
      paths.map((path) => call("read_file", { path })).join("\n"),
      paths.map((path) => call("list_directory", { path })).join("\n"),
      [...paths, `${folder}/nothing`, `${folder}/out/new.txt`]
        .map((path) => call("write_file", { path, content: "evil\n" })).join("\n"),
      paths.map((path) => call("delete_file", { path })).join("\n"),
      "say Done.",
    ].join("\n---\n");
  });
  assert.doesNotMatch(JSON.stringify(engine.server.requests.map(({ body }) => body)), /SECRET/);
  assert.equal(await outside.read("secret.txt"), "SECRET\n");
  await assert.rejects(Deno.lstat(outside.path("new.txt")), Deno.errors.NotFound);
  const results = engine.results();
  assert.ok(
    results.length > 30 && results.every((text) => /outside|symbolic link to nothing/.test(text)),
    results.join("\n"),
  );
});

Deno.test("a folder that was replaced by a link is none", async () => {
  await using place = await scratch();
  await using outside = await scratch({ "secret.txt": "SECRET\n" });
  await using engine = await play(place.root, (folder) => {
    Deno.removeSync(folder);
    Deno.symlinkSync(outside.root, folder);
    return [call("read_file", { path: `${folder}/secret.txt` }), "say Done."].join("\n---\n");
  });
  assert.match(engine.results()[0] ?? "", /outside/);
  const { folder } = new Scratch(place.root, "s1");
  await new Scratch(place.root, "s1").tidy();
  await new Scratch(place.root, "s1").remove();
  await assert.rejects(Deno.lstat(folder), Deno.errors.NotFound);
  assert.equal(await outside.read("secret.txt"), "SECRET\n");
});

Deno.test("what is too much is removed, the largest first; after a week without a message all of it", async () => {
  await using place = await scratch();
  const own = new Scratch(place.root, "s1");
  await own.make();
  for (let at = 0; at < 4; at++) Deno.writeTextFileSync(join(own.folder, `${at}`), at < 3 ? "long" : "x");
  // A link costs less than a file.
  for (let at = 4; at < 2_003; at++) Deno.linkSync(join(own.folder, "3"), join(own.folder, `${at}`));
  assert.match(await own.tidy() ?? "", /too full: 3 of its files/);
  assert.equal(
    [...Deno.readDirSync(own.folder)].filter(({ name }) => ["0", "1", "2"].includes(name)).length,
    0,
  );
  assert.equal(await own.tidy(), undefined);
  const other = new Scratch(place.root, "s2");
  await other.make();
  await Deno.writeTextFile(join(other.folder, "small"), "x");
  const file = await Deno.open(join(other.folder, "large"), { write: true, create: true });
  await file.truncate(65 * 1024 ** 2);
  file.close();
  assert.match(await other.tidy() ?? "", /too full: 1 of its files/);
  assert.deepEqual([...Deno.readDirSync(other.folder)].map(({ name }) => name), ["small"]);

  const names = () => [...Deno.readDirSync(dirname(own.folder))].map(({ name }) => name).sort();
  await new Scratch(place.root, "gone").make();
  const day = 24 * 60 * 60 * 1_000;
  const now = Date.now();
  const updated = (id: string) => ({ s1: now - 8 * day, s2: now - 6 * day })[id];
  await Scratch.expire(place.root, updated, now);
  assert.deepEqual(names(), ["gone", "s2"]);
  await Scratch.expire(place.root, updated, now + 8 * day);
  assert.deepEqual(names(), []);
});
