import assert from "node:assert/strict";
import { dirname, join } from "node:path";
import { isInside } from "../../../policy/path.ts";
import type { Mount } from "./mounts.ts";
import { commandMounts } from "./command_mounts.ts";

type PlanRequest = Parameters<typeof commandMounts>[0];

interface Place extends AsyncDisposable {
  readonly home: string;
  readonly root: string;
  readonly state: string;
  request(changes?: Partial<PlanRequest>): PlanRequest;
  write(path: string): Promise<void>;
}

async function place(): Promise<Place> {
  const folder = await Deno.realPath(await Deno.makeTempDir({ prefix: "agent-plan-" }));
  const [home, root, state] = ["home", "home/code/project", "home/.local/state/agent"].map((name) =>
    join(folder, name)
  );
  assert.ok(home !== undefined && root !== undefined && state !== undefined);
  for (const path of [root, state]) await Deno.mkdir(path, { recursive: true });
  return {
    home,
    root,
    state,
    request: (changes = {}) => ({
      level: "look",
      roots: [root],
      home,
      system: { folders: [], links: [{ path: "/bin", target: "usr/bin" }] },
      git: { bound: [], guarded: [] },
      masks: { complete: true, folders: [], files: [] },
      hidden: [],
      read: [],
      write: [],
      own: [state],
      gitConfig: undefined,
      ...changes,
    }),
    async write(path) {
      await Deno.mkdir(dirname(join(folder, path)), { recursive: true });
      await Deno.writeTextFile(join(folder, path), "text");
    },
    [Symbol.asyncDispose]: () => Deno.remove(folder, { recursive: true }),
  };
}

/** What is found at a path: the last of the nearest mounts. */
function at(mounts: readonly Mount[], path: string): Mount["kind"] | undefined {
  const covering = mounts.filter((mount) => isInside(path, mount.path));
  const nearest = Math.max(...covering.map((mount) => mount.path.length));
  return covering.filter((mount) => mount.path.length === nearest).at(-1)?.kind;
}

Deno.test("only the levels that write may write the project, and .git only the one for that", async () => {
  await using one = await place();
  const { root } = one;
  const git = { bound: [], guarded: [join(root, ".git")] };
  assert.equal(at(commandMounts(one.request()), join(root, "a.txt")), "read");
  const written = commandMounts(one.request({ level: "write", git }));
  assert.equal(at(written, join(root, "a.txt")), "write");
  assert.equal(at(written, join(root, ".git/config")), "read");
  const own = { bound: [join(root, ".git")], guarded: [join(root, ".git/hooks")] };
  const committed = commandMounts(one.request({ level: "git", git: own }));
  assert.equal(at(committed, join(root, ".git/index")), "write");
  assert.equal(at(committed, join(root, ".git/hooks/pre-commit")), "read");
});

Deno.test("of the home folder only the toolchains are there, and nothing that can be written stays", async () => {
  await using one = await place();
  const names = [
    ".cargo/bin/tool",
    ".cargo/credentials.toml",
    ".npmrc",
    ".ssh/id",
    ".aws/credentials",
    "notes/x",
  ];
  for (const name of names) await one.write(`home/${name}`);
  const mounts = commandMounts(one.request({ level: "write" }));
  assert.equal(at(mounts, join(one.home, ".cargo/bin/tool")), "read");
  for (const name of names.slice(1)) assert.equal(at(mounts, join(one.home, name)), "scratch", name);
  assert.equal(at(mounts, join(one.home, "code/other")), "closed_folder");
  assert.equal(at(mounts, "/srv/data"), undefined);
});

Deno.test("what the options name is shown, and written only where the project is", async () => {
  await using one = await place();
  for (const name of ["notes/x", "cache/y"]) await one.write(`home/${name}`);
  const options = { read: ["~/notes"], write: [join(one.home, "cache"), "~/no-such-folder"] };
  const look = commandMounts(one.request(options));
  assert.equal(at(look, join(one.home, "notes/x")), "read");
  assert.equal(at(look, join(one.home, "cache/y")), "read");
  const write = commandMounts(one.request({ ...options, level: "write" }));
  assert.equal(at(write, join(one.home, "notes/x")), "read");
  assert.equal(at(write, join(one.home, "cache/y")), "write");
});

Deno.test("nothing is written beside a project, but where it lies in another one or in what is shown", async () => {
  await using one = await place();
  const { home, root } = one;
  const beside = join(home, "code/new");
  assert.equal(at(commandMounts(one.request({ level: "git" })), beside), "closed_folder");
  const inner = commandMounts(one.request({ level: "write", roots: [join(home, "code"), root] }));
  assert.equal(at(inner, beside), "write");
  assert.equal(at(commandMounts(one.request({ read: ["~/code"] })), beside), "read");
  assert.equal(at(commandMounts(one.request({ roots: [join(home, "code")] })), join(home, "new")), "scratch");
});

Deno.test("a link is found under its own name, and so is what it leads to", async () => {
  await using one = await place();
  await one.write("elsewhere/cargo/tool");
  await Deno.mkdir(join(one.home, ".cargo"));
  await Deno.symlink("../../elsewhere/cargo", join(one.home, ".cargo/bin"));
  const mounts = commandMounts(one.request());
  assert.equal(at(mounts, join(one.home, ".cargo/bin/tool")), "read");
  assert.equal(at(mounts, join(dirname(one.home), "elsewhere/cargo/tool")), "read");
});

Deno.test("the agent's own files are never there, whatever folder around them is shown", async () => {
  await using one = await place();
  const key = join(one.state, "sessions.db");
  assert.equal(at(commandMounts(one.request()), key), "scratch");
  assert.equal(at(commandMounts(one.request({ read: ["~/.local"] })), key), "hidden_folder");
  assert.equal(at(commandMounts(one.request({ write: [one.home], level: "write" })), key), "hidden_folder");
  assert.equal(at(commandMounts(one.request({ roots: [join(one.home, ".local")] })), key), "hidden_folder");
});

Deno.test("masks are the last word, and what no mount shows is not made for them", async () => {
  await using one = await place();
  const files = [join(one.root, ".env"), "/srv/elsewhere.env"];
  const masks = { complete: true, folders: [join(one.root, ".ssh")], files } as const;
  const mounts = commandMounts(one.request({ masks, write: [one.root], git: { bound: files, guarded: [] } }));
  assert.equal(at(mounts, join(one.root, ".env")), "hidden_file");
  assert.equal(at(mounts, join(one.root, ".ssh/id")), "hidden_folder");
  const without = commandMounts(one.request({ masks }));
  assert.equal(at(without, "/srv/elsewhere.env"), undefined);
});

Deno.test("passwords and keys of the machine are hidden", async () => {
  await using one = await place();
  const mounts = commandMounts(one.request());
  assert.equal(at(mounts, "/etc/passwd"), "read");
  const shadow = await Deno.stat("/etc/shadow").then(() => true, () => false);
  if (shadow) assert.equal(at(mounts, "/etc/shadow"), "hidden_file");
});
