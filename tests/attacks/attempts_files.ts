/** Reading and writing what is not the project's. */
import fs from "node:fs";
import { createRequire } from "node:module";
import { DatabaseSync } from "node:sqlite";
import type { Attempt, Targets } from "./attempts.ts";

/** @throws {Error} if it is not there */
function expectSecret(text: unknown, { secret }: Targets): void {
  if (!JSON.stringify(text).includes(secret)) throw new Error(`got ${JSON.stringify(text)?.slice(0, 80)}`);
}

/** Opens for appending and writes nothing: enough to know that it could. */
async function openToWrite(path: string): Promise<void> {
  (await Deno.open(path, { append: true })).close();
}

/** Runs a module in a worker and waits for what it posts. */
function inWorker(url: string): Promise<unknown> {
  const worker = new Worker(url, { type: "module" });
  const { promise, resolve, reject } = Promise.withResolvers<unknown>();
  worker.onmessage = ({ data }) => resolve(data);
  worker.onerror = (event) => {
    event.preventDefault();
    reject(new Error(event.message));
  };
  return promise.finally(() => worker.terminate());
}

function dataUrl(code: string): string {
  return `data:application/javascript,${encodeURIComponent(code)}`;
}

/** Reads by way of a new name in the project. */
async function readAs(name: string, make: (path: string) => Promise<void>, targets: Targets): Promise<void> {
  const path = `${targets.root}/${name}`;
  await make(path);
  expectSecret(await Deno.readTextFile(path), targets);
}

/** Does something with .git under another name and moves it back. */
async function moved(from: string, to: string, change: () => Promise<void>): Promise<void> {
  await Deno.rename(from, to);
  try {
    await change();
  } finally {
    await Deno.rename(to, from);
  }
}

const READING: readonly Attempt[] = [
  {
    name: "read a file outside",
    run: async (t) => expectSecret(await Deno.readTextFile(`${t.outside}/secret.txt`), t),
  },
  {
    name: "read a file outside with node:fs",
    run: (t) => expectSecret(fs.readFileSync(`${t.outside}/secret.txt`, "utf8"), t),
  },
  { name: "list a folder outside", run: ({ outside }) => Deno.readDirSync(outside).next() },
  { name: "look at a file outside", run: ({ outside }) => Deno.stat(`${outside}/secret.txt`) },
  { name: "watch a folder outside", run: ({ outside }) => Deno.watchFs(outside).close() },
  { name: "go to a folder outside", run: ({ outside }) => Deno.chdir(outside) },
  {
    name: "read through the root as a process sees it",
    run: async (t) => expectSecret(await Deno.readTextFile(`/proc/self/root${t.outside}/secret.txt`), t),
  },
  {
    name: "give a file outside a second name inside",
    run: (t) => readAs("hard-1", (path) => Deno.link(`${t.outside}/secret.txt`, path), t),
  },
  {
    name: "copy a file outside",
    run: (t) => readAs("copy", (path) => Deno.copyFile(`${t.outside}/secret.txt`, path), t),
  },
  {
    name: "make a link to a file outside",
    run: (t) => readAs("link", (path) => Deno.symlink(`${t.outside}/secret.txt`, path), t),
  },
  {
    name: "make a link with node:fs",
    run: (t) =>
      readAs("link-2", (path) => Promise.resolve(fs.symlinkSync(`${t.outside}/secret.txt`, path)), t),
  },
  {
    name: "import a file outside",
    run: async (t) => expectSecret((await import(`file://${t.outside}/module.ts`)).secret, t),
  },
  {
    name: "import JSON outside",
    run: async (t) => {
      const url = `file://${t.outside}/secret.json`;
      expectSecret((await import(url, { with: { type: "json" } })).default, t);
    },
  },
  {
    name: "import a new module of the project that imports a file outside",
    run: async (t) => {
      await Deno.writeTextFile(`${t.root}/in.ts`, `export * from "file://${t.outside}/module.ts";`);
      expectSecret((await import(`file://${t.root}/in.ts`)).secret, t);
    },
  },
  {
    name: "have a worker import a file outside",
    run: async (t) => {
      const code = `import { secret } from "file://${t.outside}/module.ts"; postMessage(secret);`;
      expectSecret(await inWorker(dataUrl(code)), t);
    },
  },
  {
    name: "have a worker of the project import a file outside",
    run: async (t) => {
      const code = `import { secret } from "file://${t.outside}/module.ts"; postMessage(secret);`;
      await Deno.writeTextFile(`${t.root}/worker.ts`, code);
      expectSecret(await inWorker(`file://${t.root}/worker.ts`), t);
    },
  },
  {
    name: "have a worker read a file outside",
    run: async (t) => {
      const path = JSON.stringify(`${t.outside}/secret.txt`);
      const code = `postMessage(await Deno.readTextFile(${path}).catch(String));`;
      expectSecret(await inWorker(dataUrl(code)), t);
    },
  },
  {
    name: "require a file outside",
    run: (t) => expectSecret(createRequire(`${t.root}/x.js`)(`${t.outside}/secret.json`), t),
  },
  {
    name: "require a package outside",
    run: (t) => expectSecret(createRequire(`${t.root}/x.js`)(`${t.outside}/node_modules/p/secret.json`), t),
  },
  {
    name: "read a file outside through a link",
    run: async (t) => expectSecret(await Deno.readTextFile(`${t.root}/to-folder/secret.txt`), t),
    limit: "deno",
  },
  {
    name: "read a file outside through a link to a process's root",
    run: async (t) => expectSecret(await Deno.readTextFile(`${t.root}/proc-root${t.outside}/secret.txt`), t),
    limit: "deno",
  },
  {
    name: "import JSON outside through a link",
    run: async (t) => {
      const url = `file://${t.root}/to-folder/secret.json`;
      expectSecret((await import(url, { with: { type: "json" } })).default, t);
    },
    limit: "deno",
  },
  {
    name: "give a file outside a second name inside, through a link",
    run: (t) => readAs("hard-2", (path) => Deno.link(`${t.root}/to-folder/secret.txt`, path), t),
    limit: "deno",
  },
  {
    name: "read the system's /etc through a link",
    run: ({ root }) => Deno.readTextFile(`${root}/to-root/etc/passwd`),
    limit: "always",
  },
];

const WRITING: readonly Attempt[] = [
  { name: "write a file outside", run: ({ outside }) => Deno.writeTextFile(`${outside}/new.txt`, "new") },
  { name: "make a folder outside", run: ({ outside }) => Deno.mkdir(`${outside}/folder`) },
  { name: "remove a file outside", run: ({ outside }) => Deno.remove(`${outside}/deep/secret.txt`) },
  {
    name: "move a file outside",
    run: ({ root, outside }) => Deno.rename(`${root}/src/greet.ts`, `${outside}/greet.ts`),
  },
  { name: "make a temporary file", run: async () => Deno.remove(await Deno.makeTempFile()) },
  {
    name: "make a database outside",
    run: ({ outside }) => new DatabaseSync(`${outside}/new.db`).exec("CREATE TABLE t (c)"),
  },
  {
    name: "attach a database outside",
    run: ({ outside }) => {
      new DatabaseSync(":memory:").exec(`ATTACH '${outside}/attached.db' AS o; CREATE TABLE o.t (c)`);
    },
  },
  { name: "write Deno's cache", run: ({ cacheFile }) => openToWrite(cacheFile) },
  { name: "write the plugin's code", run: ({ pluginFile }) => openToWrite(pluginFile) },
  {
    name: "write a file outside through a link",
    run: ({ root }) => Deno.writeTextFile(`${root}/to-folder/link.txt`, "new"),
    limit: "deno",
  },
  {
    name: "make a database outside through a link",
    run: ({ root }) => new DatabaseSync(`${root}/to-folder/link.db`).exec("CREATE TABLE t (c)"),
    limit: "deno",
  },
  {
    name: "write Deno's cache through a link",
    run: ({ root, cacheFile }) => openToWrite(`${root}/to-root${cacheFile}`),
    limit: "deno",
  },
  {
    name: "write the plugin's code through a link",
    run: ({ root, pluginFile }) => openToWrite(`${root}/to-root${pluginFile}`),
    limit: "deno",
  },
  // Into Deno's cache, beside what is run from there.
  {
    name: "keep something in localStorage",
    run: () => {
      localStorage.setItem("new", "new");
      localStorage.removeItem("new");
    },
    limit: "deno",
  },
  {
    name: "keep something in a web cache",
    run: async () => {
      await (await caches.open("new")).put("http://new/", new Response("new"));
      await caches.delete("new");
    },
    limit: "deno",
  },
];

const GIT: readonly Attempt[] = [
  { name: "write a hook", run: ({ root }) => Deno.writeTextFile(`${root}/.git/hooks/pre-commit`, "new") },
  { name: "write a new hook", run: ({ root }) => Deno.writeTextFile(`${root}/.git/hooks/post-merge`, "new") },
  { name: "write git's config", run: ({ root }) => Deno.writeTextFile(`${root}/.git/config`, "new") },
  {
    name: "give git another folder",
    run: ({ root }) => Deno.writeTextFile(`${root}/.git/commondir`, "../src"),
  },
  {
    name: "give git more config",
    run: ({ root }) => Deno.writeTextFile(`${root}/.git/config.worktree`, "new"),
  },
  {
    name: "move the hooks away and back",
    run: ({ root }) =>
      moved(
        `${root}/.git/hooks`,
        `${root}/hooks`,
        () => Deno.writeTextFile(`${root}/hooks/pre-commit`, "new"),
      ),
  },
  {
    name: "move .git away and back",
    run: ({ root }) =>
      moved(
        `${root}/.git`,
        `${root}/moved`,
        () => Deno.writeTextFile(`${root}/moved/hooks/pre-commit`, "new"),
      ),
  },
  { name: "remove the config", run: ({ root }) => Deno.remove(`${root}/.git/config`) },
  {
    name: "write a hook through a link",
    run: ({ root }) => Deno.writeTextFile(`${root}/to-git/hooks/pre-commit`, "new"),
    limit: "deno",
  },
  {
    name: "write a hook through a link of its own",
    run: ({ root }) => Deno.writeTextFile(`${root}/hook.txt`, "new"),
    limit: "deno",
  },
  {
    name: "write git's config through a link to the project",
    run: ({ root }) => Deno.writeTextFile(`${root}/self/.git/config`, "[core]\n"),
    limit: "deno",
  },
  {
    name: "give git another folder through a link",
    run: async ({ root }) => {
      await Deno.writeTextFile(`${root}/to-git/commondir`, "../src");
      await Deno.remove(`${root}/to-git/commondir`);
    },
    limit: "deno",
  },
  {
    name: "move .git away and back through a link",
    run: ({ root }) =>
      moved(
        `${root}/self/.git`,
        `${root}/moved`,
        () => Deno.writeTextFile(`${root}/moved/hooks/pre-commit`, "new"),
      ),
    limit: "deno",
  },
  {
    name: "move the whole project away and back",
    run: ({ root, state }) =>
      moved(
        root,
        `${state}/moved`,
        () => Deno.writeTextFile(`${state}/moved/.git/hooks/pre-commit`, "new"),
      ),
    limit: "deno",
  },
];

export const FILES: readonly Attempt[] = [...READING, ...WRITING, ...GIT];
