/** An approval holds for what was shown: what has changed while the question waited is not written. */
import assert from "node:assert/strict";
import { OPTION } from "../../denops/agent/protocol/extensions.ts";
import { ModelServer } from "../model/model_server.ts";
import { LEVELS, openProject } from "../support/engine.ts";
import { type Scratch, scratch } from "../support/project.ts";

interface Race {
  readonly name: string;
  /** What happens between the question and the answer. */
  meanwhile(base: Scratch, folder: string): Promise<void>;
  readonly says: RegExp;
}

/** The model writes N/keys/id_new, which is asked about; `proj/N/keys` exists, for each race its own. */
const RACES: readonly Race[] = [
  {
    name: "the folder becomes a link out of the project",
    async meanwhile({ path }, folder) {
      await Deno.rename(path(folder, "keys"), path(folder, "old"));
      await Deno.symlink("../../outside", path(folder, "keys"));
    },
    says: /^path is (outside of the project|a symbolic link to nothing): [^\n]+$/,
  },
  {
    name: "the folder becomes a link to another one of the project",
    async meanwhile({ path }, folder) {
      await Deno.rename(path(folder, "keys"), path(folder, "old"));
      await Deno.symlink("old", path(folder, "keys"));
    },
    says: /^\d\/keys\/id_new was replaced meanwhile; nothing was written\.$/,
  },
  {
    name: "the file becomes a link out of the project",
    meanwhile: ({ path }, folder) => Deno.symlink("../../../outside/secret.txt", path(folder, "keys/id_new")),
    says: /^path is (outside of the project|a symbolic link to nothing): [^\n]+$/,
  },
  {
    name: "the file becomes a link to nothing yet",
    meanwhile: ({ path }, folder) => Deno.symlink("../../../outside/new.txt", path(folder, "keys/id_new")),
    says: /^path is a symbolic link to nothing: [^\n]+$/,
  },
  {
    name: "somebody else writes the file",
    meanwhile: (base, folder) => base.write(`${folder}/keys/id_new`, "the user's own\n"),
    says: /^\d\/keys\/id_new changed meanwhile; nothing was written\. Read it again\.$/,
  },
  {
    name: "the file becomes a folder",
    meanwhile: ({ path }, folder) => Deno.mkdir(path(folder, "keys/id_new")),
    says: /^\d\/keys\/id_new is a folder, not a file\.$/,
  },
];

/** One message with a call for each race. */
const SCRIPT = `${
  RACES.map((_, at) => `call write_file {"path": "${at}/keys/id_new", "content": "written by the model\\n"}`)
    .join("\n")
}\n---\nsay That was all.`;

for (const level of LEVELS) {
  Deno.test({
    name: `what changes between a question and its answer is not written over (${level.name})`,
    ignore: Deno.build.os === "windows",
    async fn(t) {
      await using base = await scratch({
        ...Object.fromEntries(RACES.map((_, at) => [`proj/${at}/keys/.keep`, ""])),
        "outside/secret.txt": "a secret\n",
        "state/.keep": "",
      });
      await using server = await ModelServer.start(SCRIPT);
      const root = base.path("proj");
      const setup = { level, root, stateDir: base.path("state"), baseUrl: `${server.url}/v1` };
      const left = [...RACES.entries()];
      const meanwhile = async () => {
        const [at, race] = left.shift() ?? [];
        await race?.meanwhile(base, `proj/${at}`);
      };
      await using project = await openProject(setup, OPTION.allowOnce, meanwhile);
      await project.play("Write it.");

      assert.deepEqual(
        project.asked.map(({ title }) => title),
        RACES.map((_, at) => `write ${at}/keys/id_new`),
      );
      const results = server.requests[1]?.text.split("\n") ?? [];
      assert.equal(results.length, RACES.length);
      for (const [at, race] of RACES.entries()) {
        await t.step(`after the question ${race.name}: nothing is written`, async () => {
          assert.match(results[at] ?? "", race.says);
          for (const folder of ["keys", "old"]) {
            const file = await base.read(`proj/${at}/${folder}/id_new`).catch(() => "");
            assert.doesNotMatch(file, /written by the model/);
          }
        });
      }
      assert.deepEqual(await namesIn(base.path("outside")), ["secret.txt"]);
      assert.equal(await base.read("outside/secret.txt"), "a secret\n");
    },
  });
}

async function namesIn(folder: string): Promise<readonly string[]> {
  return (await Array.fromAsync(Deno.readDir(folder), ({ name }) => name)).sort();
}
