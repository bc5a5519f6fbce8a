import assert from "node:assert/strict";
import { dirname } from "node:path";
import fc from "fast-check";
import { ANY_CHARACTER } from "../../../tests/support/any_character.ts";
import { removeTree, scratch } from "../../../tests/support/project.ts";
import { runs } from "../../../tests/support/runs.ts";
import { lookups } from "../engine/tools/files/disk.ts";
import { isInside, PathError, resolvePath } from "./path.ts";

/** Links need a right of their own there. */
const ignore = Deno.build.os === "windows";

/** A folder "proj" among others, with links in it; `proj-link` is another name of it. */
async function ground() {
  const around = await scratch({
    "outside/secret.txt": "",
    "proj-evil/secret.txt": "",
    "proj/src/greet.ts": "",
    "proj/.env": "",
    "nested/proj/proj/inner.ts": "",
  });
  const root = around.path("proj");
  const links = {
    "proj-link": "proj",
    "outside/back": "../proj/src",
    "proj/to-file": "../outside/secret.txt",
    "proj/to-folder": "../outside",
    "proj/to-sibling": around.path("proj-evil"),
    "proj/to-parent": "..",
    "proj/to-root": "/",
    "proj/chain": "src/../to-folder",
    "proj/and-back": "../outside/back",
    "proj/loop": "loop",
    "proj/dangling": "../outside/not-yet",
    "proj/self": ".",
    "proj/source": "src",
    "proj/notes": "self/source/../.env",
  };
  for (const [name, target] of Object.entries(links)) await Deno.symlink(target, around.path(name));
  return { base: around.root, root, [Symbol.asyncDispose]: () => removeTree(around.root) };
}

interface Resolved {
  readonly input: string;
  /** Relative to the root; the error's message instead if there is one. */
  readonly is: string | RegExp;
  /** Where it is not the same. */
  readonly named?: string;
  readonly exists?: boolean;
}

function table(base: string): readonly Resolved[] {
  const OUTSIDE = /^path is outside of the project: /;
  const NOTHING = /^path is a symbolic link to nothing: /;
  const NO_FOLDER = /^path goes through something that is not a folder: /;
  const CONTROL = /^path has a control character: /;
  const TOO_LONG = /^path (is|has a name that is) too long: .{1,200}$/;
  return [
    { input: "src/greet.ts", is: "src/greet.ts" },
    { input: "./src//greet.ts/", is: "src/greet.ts" },
    { input: "src/../src/./greet.ts", is: "src/greet.ts" },
    { input: "src/new/deep.ts", is: "src/new/deep.ts", exists: false },
    { input: ".", is: "" },
    { input: "proj", is: "" },
    { input: "proj/src", is: "src" },
    { input: "proj\\src\\greet.ts", is: "src/greet.ts" },
    { input: "../proj/src", is: "src" },
    { input: `${base}/proj`, is: "" },
    { input: `${base}/proj/src`, is: "src" },
    { input: `${base}/proj-link/src`, is: "src" },
    { input: `${base}/outside/../proj/src`, is: "src" },
    { input: "", is: /^path is empty/ },
    { input: "..", is: OUTSIDE },
    { input: "../outside", is: OUTSIDE },
    { input: "../proj-evil/secret.txt", is: OUTSIDE },
    { input: "proj/..", is: OUTSIDE },
    { input: "proj/../outside", is: OUTSIDE },
    { input: "proj\\..\\outside", is: OUTSIDE },
    { input: "/", is: OUTSIDE },
    { input: base, is: OUTSIDE },
    { input: `${base}/proj-evil`, is: OUTSIDE },
    { input: `${base}/proj/../outside`, is: OUTSIDE },
    { input: `${base}/proj-link/../outside`, is: OUTSIDE },
    { input: `${base}/outside/back/greet.ts`, is: OUTSIDE },
    { input: "to-file", is: OUTSIDE },
    { input: "to-folder", is: OUTSIDE },
    { input: "to-folder/secret.txt", is: OUTSIDE },
    { input: "to-folder/new/deep.txt", is: OUTSIDE },
    { input: "to-sibling/secret.txt", is: OUTSIDE },
    { input: "to-parent/outside", is: OUTSIDE },
    { input: "to-root/etc/passwd", is: OUTSIDE },
    { input: "chain/secret.txt", is: OUTSIDE },
    { input: "to-parent/proj/src", is: "src", named: "to-parent/proj/src" },
    { input: "and-back/greet.ts", is: "src/greet.ts", named: "and-back/greet.ts" },
    { input: "self/self/source", is: "src", named: "self/self/source" },
    { input: "source/new.ts", is: "src/new.ts", named: "source/new.ts", exists: false },
    { input: "notes", is: ".env", named: "notes" },
    { input: "loop", is: NOTHING },
    { input: "loop/x", is: NOTHING },
    { input: "dangling", is: NOTHING },
    { input: "dangling/x", is: NOTHING },
    { input: "src/greet.ts/x", is: NO_FOLDER },
    { input: "source/greet.ts/x", is: NO_FOLDER },
    { input: "src/greet.ts\0", is: CONTROL },
    { input: "..\n", is: CONTROL },
    { input: "\u007f", is: CONTROL },
    { input: "x".repeat(255), is: "x".repeat(255), exists: false },
    { input: "x".repeat(256), is: TOO_LONG },
    { input: "\u00e9".repeat(128), is: TOO_LONG },
    { input: "a/".repeat(100_000), is: TOO_LONG },
    { input: "/a".repeat(100_000), is: TOO_LONG },
    { input: "a/../".repeat(100_000) + "src", is: "src" },
    { input: "..\\outside", is: "..\\outside", exists: false },
    { input: "%2e%2e/outside", is: "%2e%2e/outside", exists: false },
    { input: "~/x", is: "~/x", exists: false },
    { input: "...", is: "...", exists: false },
    { input: "..outside", is: "..outside", exists: false },
  ];
}

Deno.test({
  name: "a path is the file in the project that it leads to, or an error",
  ignore,
  async fn() {
    await using place = await ground();
    for (const { input, is, named, exists = true } of table(place.base)) {
      const resolved = resolvePath(input, place.root, lookups, false);
      if (is instanceof RegExp) {
        await assert.rejects(
          resolved,
          (error) => error instanceof PathError && is.test(error.message),
          input,
        );
        continue;
      }
      const path = is === "" ? place.root : `${place.root}/${is}`;
      assert.deepEqual(await resolved, { path, relative: is, named: named ?? is, exists }, input);
    }
  },
});

Deno.test({
  name: "a folder of the project's own name goes before the project",
  ignore,
  async fn() {
    await using place = await ground();
    const root = `${place.base}/nested/proj`;
    const { relative } = await resolvePath("proj/inner.ts", root, lookups, false);
    assert.equal(relative, "proj/inner.ts");
    await assert.rejects(resolvePath("proj/../../x", root, lookups, false), PathError);
  },
});

/** Names that lead somewhere, and some that do not. */
const part = fc.oneof(
  fc.constantFrom(
    "..",
    ".",
    "",
    "proj",
    "src",
    "greet.ts",
    "self",
    "source",
    "to-folder",
    "to-parent",
    "to-root",
  ),
  fc.constantFrom(
    "chain",
    "and-back",
    "loop",
    "dangling",
    "notes",
    "outside",
    "secret.txt",
    "new",
    "\0",
    "..\\..",
  ),
  fc.string({ unit: ANY_CHARACTER, maxLength: 8 }),
);

const written = fc.oneof(
  fc.tuple(
    fc.constantFrom("", "/", "//", "BASE/", "BASE/proj/", "BASE/proj-link/"),
    fc.array(part, { maxLength: 9 }),
  )
    .chain(([start, parts]) =>
      fc.constantFrom("/", "/", "\\", "//").map((separator) => start + parts.join(separator))
    ),
  fc.string({ unit: ANY_CHARACTER, maxLength: 40 }),
);

Deno.test({
  name: "whatever is written, what comes out is a real path in the project, or an error",
  ignore,
  async fn() {
    await using place = await ground();
    let good = 0;
    const { numRuns } = runs(2_000);
    await fc.assert(
      fc.asyncProperty(written, fc.boolean(), async (text, windows) => {
        const input = text.replace("BASE", place.base);
        const resolved = await resolvePath(input, place.root, lookups, windows).catch((error) => {
          assert.ok(error instanceof PathError, String(error));
          assert.match(error.message, /^path [^\n]+$/);
          return undefined;
        });
        if (resolved === undefined) return;
        good += 1;
        assert.ok(resolved.path === place.root || resolved.path.startsWith(`${place.root}/`), resolved.path);
        const existing = await nearest(resolved.path);
        assert.equal(await Deno.realPath(existing), existing);
        assert.equal(existing === resolved.path, resolved.exists);
      }),
      { numRuns },
    );
    assert.ok(good > numRuns / 10, `${good} paths were in the project`);
  },
});

async function nearest(path: string): Promise<string> {
  return await Deno.lstat(path).then(() => path, () => nearest(dirname(path)));
}

/** Refused where `windows` is set, whatever the system; a file's name like any other where it is not. */
const WINDOWS: Readonly<Record<string, RegExp>> = {
  "con": /names a device/,
  "src/NUL": /names a device/,
  "aux.txt": /names a device/,
  "COM1": /names a device/,
  "lpt\u00b9.log": /names a device/,
  ".env.": /ends in a dot or a space/,
  ".env ": /ends in a dot or a space/,
  "src./x": /ends in a dot or a space/,
  "...": /ends in a dot or a space/,
  ".. /x": /ends in a dot or a space/,
  ".env::$DATA": /a character Windows forbids/,
  ".git:x": /a character Windows forbids/,
  "C:src": /a character Windows forbids/,
  "src/C:/x": /a character Windows forbids/,
  "a*": /a character Windows forbids/,
  'a"b': /a character Windows forbids/,
  "a|b": /a character Windows forbids/,
  "\\\\server\\share": /outside of the project/,
  "\\\\?\\C:\\x": /outside of the project/,
  "\\\\.\\pipe\\x": /outside of the project/,
};

Deno.test("names that Windows takes for something else are refused there, and there only", async () => {
  const nothing = {
    realPath: (path: string) => Promise.resolve(path === "/project" ? path : undefined),
    kind: (path: string) => Promise.resolve(path === "/project" ? "directory" as const : undefined),
  };
  for (const [input, message] of Object.entries(WINDOWS)) {
    await assert.rejects(resolvePath(input, "/project", nothing, true), message, input);
    if (ignore) continue;
    assert.equal((await resolvePath(input, "/project", nothing, false)).path, `/project/${input}`);
  }
  // UNC with forward slashes; on other systems an absolute path.
  await assert.rejects(resolvePath("//server/share", "/project", nothing, true), /outside of the project/);
  assert.equal(
    (await resolvePath("com/lpt/console.ts", "/project", nothing, true)).relative,
    "com/lpt/console.ts",
  );
});

Deno.test("inside is the root and what is below it", () => {
  const cases: readonly (readonly [path: string, root: string, inside: boolean])[] = [
    ["/x/proj", "/x/proj", true],
    ["/x/proj/a", "/x/proj", true],
    ["/x/proj/..a", "/x/proj", true],
    ["/x/proj/...", "/x/proj", true],
    ["/x", "/x/proj", false],
    ["/", "/x/proj", false],
    ["/x/proj-evil", "/x/proj", false],
    ["/x/pro", "/x/proj", false],
    ["/x/PROJ", "/x/proj", false],
    ["/y/proj", "/x/proj", false],
  ];
  for (const [path, root, inside] of ignore ? [] : cases) assert.equal(isInside(path, root), inside, path);
});

Deno.test("half a character is called as the disk calls it", async () => {
  const lookups = {
    realPath: (path: string) => Promise.resolve(path === "/p" ? path : undefined),
    kind: (path: string) => Promise.resolve(path === "/p" ? "directory" as const : undefined),
  };
  const { path, named } = await resolvePath("\ud800x.txt", "/p", lookups, false);
  assert.deepEqual([path, named], ["/p/\ufffdx.txt", "\ufffdx.txt"]);
});
