import assert from "node:assert/strict";
import { join } from "node:path";
import { scratch, waitUntil } from "../../../../tests/support/project.ts";
import { BUNDLES, ENTRIES, entryFiles, recordName, recordOf } from "./bundle.ts";

const BUNDLE = `${BUNDLES}/engine/main.js`;
const SOURCES = ["engine/main.ts", "shared/one.ts"];

async function withBundle(body: (agent: string) => Promise<void>): Promise<void> {
  await using folder = await scratch({
    "engine/main.ts": "export const one = 1;\n",
    "shared/one.ts": "export const two = 2;\n",
    [BUNDLE]: "const one=1;\n",
  });
  const record = recordOf(folder.root, [...SOURCES, BUNDLE]);
  await Deno.writeTextFile(folder.path(BUNDLES, recordName("engine")), record);
  assert.deepEqual(entryFiles(folder.root, "engine"), [BUNDLE]);
  await body(folder.root);
}

/** Deno tells in seconds when a file was changed, and the kernel's clock for that is some milliseconds late. */
async function untilNextSecond(path: string): Promise<void> {
  const changed = (await Deno.stat(path)).ctime?.getTime() ?? 0;
  await waitUntil("the next second", () => Date.now() >= changed + 1_100);
}

/** Each makes the bundle worthless. */
const CHANGES: Readonly<Record<string, (agent: string) => void | Promise<void>>> = {
  async "an edit that keeps a module's size and time"(agent) {
    const path = join(agent, "shared/one.ts");
    const { atime, mtime } = await Deno.stat(path);
    await untilNextSecond(path);
    await Deno.writeTextFile(path, "export const two = 3;\n");
    await Deno.utime(path, atime ?? 0, mtime ?? 0);
  },
  "a module that is gone": (agent) => Deno.remove(join(agent, "shared/one.ts")),
  async "another file in a module's place"(agent) {
    const path = join(agent, "engine/main.ts");
    await Deno.copyFile(path, `${path}.new`);
    await Deno.rename(`${path}.new`, path);
  },
  "a bundle that was cut in half": (agent) => Deno.truncate(join(agent, BUNDLE), 6),
  async "a bundle behind a link"(agent) {
    await Deno.rename(join(agent, BUNDLE), join(agent, "planted.js"));
    await Deno.copyFile(join(agent, "planted.js"), join(agent, "other.js"));
    await Deno.symlink(join(agent, "other.js"), join(agent, BUNDLE));
  },
  async "a bundle with another mode"(agent) {
    await untilNextSecond(join(agent, BUNDLE));
    await Deno.chmod(join(agent, BUNDLE), 0o666);
  },
  "a folder in the bundle's place": async (agent) => {
    await Deno.remove(join(agent, BUNDLE));
    await Deno.mkdir(join(agent, BUNDLE));
  },
  async "a record that was cut between two lines"(agent) {
    const path = join(agent, BUNDLES, recordName("engine"));
    const lines = (await Deno.readTextFile(path)).split("\n");
    await Deno.writeTextFile(path, [lines[0], lines[3], ""].join("\n"));
  },
  async "another version of Deno"(agent) {
    const path = join(agent, BUNDLES, recordName("engine"));
    const record = await Deno.readTextFile(path);
    await Deno.writeTextFile(path, record.replace(Deno.version.deno, "1.0.0"));
  },
  "no record": (agent) => Deno.remove(join(agent, BUNDLES, recordName("engine"))),
};

for (const [what, change] of Object.entries(CHANGES)) {
  Deno.test(`the modules are loaded after ${what}`, async () => {
    await withBundle(async (agent) => {
      await change(agent);
      assert.deepEqual(entryFiles(agent, "engine"), ENTRIES.engine);
    });
  });
}
