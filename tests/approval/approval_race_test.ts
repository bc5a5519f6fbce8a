/** An approval holds for what was shown: what has changed while the question waited is not written. */
import assert from "node:assert/strict";
import { OPTION } from "../../denops/agent/protocol/extensions.ts";
import { ModelServer } from "../model/model_server.ts";
import { LEVELS, openProject } from "../support/engine.ts";
import { type Scratch, scratch } from "../support/project.ts";

interface Race {
  readonly name: string;
  /** What happens between the question and the answer. */
  meanwhile(base: Scratch): Promise<void>;
  readonly says: RegExp;
}

/** The model writes keys/id_new, which is asked about; `proj/keys` exists. */
const RACES: readonly Race[] = [
  {
    name: "the folder becomes a link out of the project",
    async meanwhile({ path }) {
      await Deno.rename(path("proj/keys"), path("proj/old"));
      await Deno.symlink("../outside", path("proj/keys"));
    },
    says: /^path is (outside of the project|a symbolic link to nothing): [^\n]+$/,
  },
  {
    name: "the folder becomes a link to another one of the project",
    async meanwhile({ path }) {
      await Deno.rename(path("proj/keys"), path("proj/old"));
      await Deno.symlink("old", path("proj/keys"));
    },
    says: /^keys\/id_new was replaced meanwhile; nothing was written\.$/,
  },
  {
    name: "the file becomes a link out of the project",
    meanwhile: ({ path }) => Deno.symlink("../../outside/secret.txt", path("proj/keys/id_new")),
    says: /^path is (outside of the project|a symbolic link to nothing): [^\n]+$/,
  },
  {
    name: "the file becomes a link to nothing yet",
    meanwhile: ({ path }) => Deno.symlink("../../outside/new.txt", path("proj/keys/id_new")),
    says: /^path is a symbolic link to nothing: [^\n]+$/,
  },
  {
    name: "somebody else writes the file",
    meanwhile: (base) => base.write("proj/keys/id_new", "the user's own\n"),
    says: /^keys\/id_new changed meanwhile; nothing was written\. Read it again\.$/,
  },
  {
    name: "the file becomes a folder",
    meanwhile: ({ path }) => Deno.mkdir(path("proj/keys/id_new")),
    says: /^keys\/id_new is a folder, not a file\.$/,
  },
];

const SCRIPT =
  `call write_file {"path": "keys/id_new", "content": "written by the model\\n"}\n---\nsay That was all.`;

for (const level of LEVELS) {
  for (const { name, meanwhile, says } of RACES) {
    Deno.test({
      name: `after the question ${name}: nothing is written (${level.name})`,
      ignore: Deno.build.os === "windows",
      async fn() {
        await using base = await scratch({
          "proj/keys/.keep": "",
          "outside/secret.txt": "a secret\n",
          "state/.keep": "",
        });
        await using server = await ModelServer.start(SCRIPT);
        const root = base.path("proj");
        const setup = { level, root, stateDir: base.path("state"), baseUrl: `${server.url}/v1` };
        await using project = await openProject(setup, OPTION.allowOnce, () => meanwhile(base));
        await project.play("Write it.");

        assert.equal(project.asked.length, 1);
        assert.match(server.requests[1]?.text ?? "", says);
        assert.deepEqual(await namesIn(base.path("outside")), ["secret.txt"]);
        assert.equal(await base.read("outside/secret.txt"), "a secret\n");
        for (const folder of ["proj/keys", "proj/old"]) {
          const file = await base.read(`${folder}/id_new`).catch(() => "");
          assert.doesNotMatch(file, /written by the model/);
        }
      },
    });
  }
}

async function namesIn(folder: string): Promise<readonly string[]> {
  return (await Array.fromAsync(Deno.readDir(folder), ({ name }) => name)).sort();
}
