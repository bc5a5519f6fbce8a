import assert from "node:assert/strict";
import { dirname, join, relative } from "node:path";
import fc from "fast-check";
import { pause, waitUntil } from "../../../../tests/support/project.ts";
import { IS_FULL } from "../../../../tests/support/sample.ts";
import { globMatcher } from "../../policy/glob.ts";
import { MaskFinder, type Masks } from "./masks.ts";

const GLOBS = ["**/.env", "**/*.pem", "**/.ssh/**"];
const FOLDERS = ["a", "b", "venv", "node_modules", "target", ".ssh"];
const FILES = [".env", "k.pem", "x.txt", ".x.swp", "pyvenv.cfg", "Cargo.toml"];

interface Tree extends AsyncDisposable {
  readonly root: string;
}

async function tree(): Promise<Tree> {
  const root = await Deno.realPath(await Deno.makeTempDir({ prefix: "agent-masks-" }));
  return { root, [Symbol.asyncDispose]: () => Deno.remove(root, { recursive: true }) };
}

async function write(path: string, text = "text"): Promise<void> {
  await Deno.mkdir(dirname(path), { recursive: true });
  await Deno.writeTextFile(path, text);
}

async function mkfifo(path: string): Promise<void> {
  const { success } = await new Deno.Command("mkfifo", { args: [path], stderr: "null" }).output();
  if (!success) throw new Error(`Cannot make the pipe ${path}`);
}

/** A finder for which all that it sees has been as it is for an hour: it reads nothing twice that looks the same. */
const trusting = () => new MaskFinder(() => Date.now() + 3_600_000);

/** Waits until the file system's clock has moved on, as it does between two changes that a finder can tell apart. */
async function tick(folder: string): Promise<void> {
  const probe = join(folder, `${crypto.randomUUID()}.tick`);
  const time = async () => {
    await Deno.writeTextFile(probe, "");
    return (await Deno.stat(probe)).ctime?.getTime();
  };
  const before = await time();
  await waitUntil("the clock to move on", async () => {
    // Its seconds are what Deno tells.
    await pause(50);
    return await time() !== before;
  });
  await Deno.remove(probe);
}

function find(finder: MaskFinder, root: string, globs: readonly string[] = GLOBS): Promise<Masks> {
  return finder.find([{ root, prefix: "" }], globs);
}

function sorted({ folders, files, ...rest }: Masks) {
  return { ...rest, folders: folders.toSorted(), files: files.toSorted() };
}

const covers = ({ folders, files }: Masks, path: string) =>
  files.includes(path) || folders.some((folder) => path === folder || path.startsWith(`${folder}/`));

function exists(path: string): boolean {
  try {
    Deno.lstatSync(path);
    return true;
  } catch {
    return false;
  }
}

/** Folders of packages, which are outside of the rules. */
function isPackages(folder: string, name: string): boolean {
  if (name === "node_modules") return true;
  if (name === "venv") return exists(join(folder, name, "pyvenv.cfg"));
  return name === "target" && exists(join(folder, "Cargo.toml"));
}

/** Every path that a rule or its kind denies, and every other name of the same file. */
function denied(root: string): readonly string[] {
  const isDenied = globMatcher(GLOBS);
  const paths: string[] = [];
  const walk = (folder: string) => {
    for (const entry of Deno.readDirSync(folder)) {
      if (entry.isDirectory && isPackages(folder, entry.name)) continue;
      const path = join(folder, entry.name);
      paths.push(path);
      if (entry.isDirectory) walk(path);
    }
  };
  walk(root);
  const identity = (path: string) => {
    const { dev, ino } = Deno.lstatSync(path);
    return `${dev}:${ino}`;
  };
  const must = paths.filter((path) => {
    const info = Deno.lstatSync(path);
    if (info.isDirectory || info.isSymlink) return false;
    return !info.isFile || path.endsWith(".swp") || isDenied(relative(root, path));
  });
  const inodes = new Set(must.map(identity));
  return paths.filter((path) => inodes.has(identity(path)));
}

type Step = readonly [kind: string, from: string, to: string];

const folder = fc.array(fc.constantFrom(...FOLDERS), { maxLength: 3 }).map((parts) => parts.join("/"));
const file = fc.tuple(folder, fc.constantFrom(...FILES)).map(([at, name]) => join(at, name));
const change: fc.Arbitrary<Step> = fc.oneof(
  fc.tuple(fc.constant("write"), file, file),
  fc.tuple(fc.constantFrom("rename", "hard link", "link"), fc.oneof(file, folder), fc.oneof(file, folder)),
  fc.tuple(fc.constantFrom("remove", "pipe", "folder"), fc.oneof(file, folder), file),
);

/** What cannot be done is not done: there is nothing of that name, or something else. */
async function apply(root: string, [kind, one, other]: Step): Promise<void> {
  const [from, to] = [join(root, one), join(root, other)];
  if (from === root) return;
  try {
    // To open a pipe that nobody reads would wait forever.
    const isPipe = await Deno.stat(from).then(({ isFifo }) => isFifo, () => false);
    if (kind === "write" && isPipe) return;
    if (kind === "write") await write(from);
    else if (kind === "folder") await Deno.mkdir(from, { recursive: true });
    else if (kind === "remove") await Deno.remove(from, { recursive: true });
    else if (kind === "pipe") await mkfifo(from);
    else if (kind === "link") await Deno.symlink(from, to);
    else if (kind === "hard link") await Deno.link(from, to);
    else if (kind === "rename" && to !== root) await Deno.rename(from, to);
  } catch {
    // Then the tree stays as it is.
  }
}

/** As many trees live at the same time, since each change waits for the clock. */
const LIVES = 12;

Deno.test("whatever happens between two looks, all that is denied is masked, and a known tree gives what a new one does", async () => {
  const start = fc.array(file, { maxLength: 12 });
  const later = fc.array(fc.array(change, { minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 4 });
  const life = fc.tuple(start, later);
  await fc.assert(
    fc.asyncProperty(fc.array(life, { minLength: LIVES, maxLength: LIVES }), async (lives) => {
      await using places = new AsyncDisposableStack();
      const trees = await Promise.all(lives.map(async ([files, looks]) => {
        const { root } = places.use(await tree());
        for (const path of files) await apply(root, ["write", path, ""]);
        return { root, finder: trusting(), looks: [[], ...looks] };
      }));
      for (let look = 0; look < Math.max(...trees.map(({ looks }) => looks.length)); look++) {
        for (const { root, finder, looks } of trees) {
          for (const step of looks[look] ?? []) await apply(root, step);
          const masks = await find(finder, root);
          for (const path of denied(root)) assert.ok(covers(masks, path), `${relative(root, path)} is seen`);
          assert.deepEqual(sorted(masks), sorted(await find(new MaskFinder(), root)));
        }
        await tick(dirname(trees[0]?.root ?? "/"));
      }
    }),
    // Each smaller counterexample would wait for the clock too.
    { numRuns: IS_FULL ? 5 : 1, endOnFailure: true },
  );
});

Deno.test("a folder that has changed within one tick of the clock is read again", async () => {
  await using place = await tree();
  const finder = new MaskFinder();
  await write(join(place.root, "a/x.txt"));
  for (let run = 0; run < 30; run++) {
    const path = join(place.root, "a", `${run}.pem`);
    await find(finder, place.root);
    await Deno.writeTextFile(path, "");
    assert.ok(covers(await find(finder, place.root), path));
  }
});

Deno.test("other names of a masked file are masked, made before or after the first look", async () => {
  await using place = await tree();
  const { root } = place;
  await write(join(root, "a/.env"));
  await write(join(root, "b/x.txt"));
  await Deno.link(join(root, "a/.env"), join(root, "b/before.txt"));
  const finder = trusting();
  const first = await find(finder, root);
  assert.ok(covers(first, join(root, "b/before.txt")));
  assert.ok(!covers(first, join(root, "b/x.txt")));
  await tick(dirname(root));
  await Deno.link(join(root, "a/.env"), join(root, "b/after.txt"));
  const second = await find(finder, root);
  for (const name of ["before.txt", "after.txt"]) assert.ok(covers(second, join(root, "b", name)), name);
  // A folder that is hidden whole has files with other names too.
  await write(join(root, ".ssh/deep/key"));
  await Deno.link(join(root, ".ssh/deep/key"), join(root, "b/key.txt"));
  await tick(dirname(root));
  const third = await find(finder, root);
  assert.ok(covers(third, join(root, "b/key.txt")));
  assert.ok(!covers(third, join(root, "b/x.txt")));
});

Deno.test("what a denied link leads to is masked, also when that comes later", async () => {
  await using place = await tree();
  const { root } = place;
  await write(join(root, "a/x.txt"));
  await Deno.symlink("conf/real.txt", join(root, ".env"));
  await Deno.symlink("a", join(root, ".ssh"));
  await Deno.mkdir(join(root, "conf"));
  const finder = trusting();
  const first = await find(finder, root);
  assert.deepEqual(first.files, []);
  assert.ok(covers(first, join(root, "a/x.txt")), "a folder too");
  await tick(dirname(root));
  await Deno.writeTextFile(join(root, "conf/real.txt"), "secret");
  assert.ok(covers(await find(finder, root), join(root, "conf/real.txt")));
});

Deno.test("a denied link to the project itself hides nothing of it", async () => {
  await using place = await tree();
  await write(join(place.root, "a/x.txt"));
  await Deno.symlink(place.root, join(place.root, ".ssh"));
  await Deno.symlink("..", join(place.root, "a/.ssh"));
  assert.deepEqual(await find(new MaskFinder(), place.root), { complete: true, folders: [], files: [] });
});

Deno.test("sockets, pipes and copies that editors keep are masked", async () => {
  await using place = await tree();
  const { root } = place;
  await write(join(root, "a/.notes.txt.swp"));
  await write(join(root, "a/.notes.txt.un~"));
  await write(join(root, "a/notes.txt"));
  await mkfifo(join(root, "pipe"));
  using _listener = Deno.listen({ transport: "unix", path: join(root, "socket") });
  const masks = await find(new MaskFinder(), root);
  const expected = [".notes.txt.swp", ".notes.txt.un~"].map((name) => join(root, "a", name));
  assert.deepEqual(sorted(masks).files, [...expected, join(root, "pipe"), join(root, "socket")]);
});

Deno.test("nothing of a folder that cannot be listed is seen", async () => {
  await using place = await tree();
  const closed = join(place.root, "closed");
  await write(join(closed, ".env"));
  await Deno.chmod(closed, 0o000);
  try {
    assert.ok(covers(await find(new MaskFinder(), place.root), join(closed, ".env")));
  } finally {
    await Deno.chmod(closed, 0o700);
  }
});

Deno.test("files in folders of packages do not count, unless a rule names the folder", async () => {
  await using place = await tree();
  const { root } = place;
  const packaged = ["node_modules/p/k.pem", "venv/lib/k.pem", "target/debug/k.pem"];
  for (const path of [...packaged, "venv/pyvenv.cfg", "Cargo.toml", "sub/target/k.pem", "sub/venv/k.pem"]) {
    await write(join(root, path));
  }
  const masks = await find(new MaskFinder(), root);
  for (const path of packaged) assert.ok(!covers(masks, join(root, path)), path);
  for (const path of ["sub/target/k.pem", "sub/venv/k.pem"]) assert.ok(covers(masks, join(root, path)), path);
  const named = await find(new MaskFinder(), root, [...GLOBS, "node_modules/**/*.pem"]);
  assert.ok(covers(named, join(root, "node_modules/p/k.pem")));
});

Deno.test("each root has its own names, also one that lies in another", async () => {
  await using place = await tree();
  const { root } = place;
  const lib = join(root, "deep/lib");
  for (const path of ["deep/lib/one.txt", "deep/lib/two.txt", "two.txt"]) await write(join(root, path));
  const roots = [{ root, prefix: "" }, { root: lib, prefix: "lib/" }];
  const finder = trusting();
  for (let run = 0; run < 2; run++) {
    const masks = await finder.find(roots, ["deep/lib/one.txt", "lib/two.txt"]);
    assert.deepEqual(sorted(masks).files, [join(lib, "one.txt"), join(lib, "two.txt")]);
  }
});

Deno.test("a folder of nothing but denied files is hidden whole; too many of them elsewhere are said to be so", async () => {
  await using place = await tree();
  const { root } = place;
  Deno.mkdirSync(join(root, "keys"));
  const count = IS_FULL ? 12_000 : 1_500;
  for (let index = 0; index < count; index++) Deno.createSync(join(root, "keys", `${index}.pem`)).close();
  assert.deepEqual(await find(new MaskFinder(), root), {
    complete: true,
    folders: [join(root, "keys")],
    files: [],
  });
  await write(join(root, "keys", "readme.txt"));
  const masks = await find(new MaskFinder(), root);
  assert.ok(!masks.complete);
  assert.match(masks.reason, /too many files that may not be read/);
  assert.equal(masks.files.length, 1_000, "no more than bubblewrap can take");
});
