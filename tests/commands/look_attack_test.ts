/** Lines of every kind of trick, run where they can only look: nothing changes, nothing leaks, nobody is reached. */
import assert from "node:assert/strict";
import { join } from "node:path";
import {
  type Looks,
  looksByKind,
  type LooksPlaces,
  makeLooksProject,
  SECRET,
} from "../attacks/looks_project.ts";
import { RunningCommand } from "../../denops/agent/supervisor/commands/runner.ts";
import { commandRunner, type Runner } from "../support/command_sandbox.ts";
import { scratch, waitUntil } from "../support/project.ts";
import { IS_FULL, sample } from "../support/sample.ts";
import { programPlaces } from "./inside.ts";

/** `deno task attack` tries them all; a run of the tests so many of them, of each kind. */
const SAMPLE = 40;
const KINDS = 13;
const FEWEST_OF_A_KIND = 3;
const AT_ONCE = 4;
const SECONDS = 10;
const DENIED = ["**/.env", "**/.env.*", "**/*.pem", "**/*.key", "**/id_rsa*"];

interface World extends AsyncDisposable {
  readonly places: LooksPlaces;
  readonly runner: Runner;
  readonly connections: number;
}

async function open(): Promise<World> {
  await using stack = new AsyncDisposableStack();
  const folder = async () => stack.use(await scratch()).root;
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  stack.defer(() => listener.close());
  const places = {
    root: await folder(),
    home: await folder(),
    outside: await folder(),
    port: listener.addr.transport === "tcp" ? listener.addr.port : 0,
  };
  let connections = 0;
  (async () => {
    for await (const connection of listener) {
      connections++;
      connection.close();
    }
  })().catch(() => {});
  await makeLooksProject(places);
  const runner = commandRunner([places.root], await folder(), DENIED, {
    home: places.home,
    command_read: programPlaces(["git", "rg", "node", "nvim"]),
  });
  const owned = stack.move();
  return {
    places,
    runner,
    get connections() {
      return connections;
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

/** All that is there, and when and how it was changed last. */
function fingerprint({ root, home, outside }: LooksPlaces): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  const waiting = [root, home, outside];
  for (const folder of waiting) {
    for (const { name } of Deno.readDirSync(folder)) {
      const path = join(folder, name);
      const info = Deno.lstatSync(path);
      found.set(path, [info.ino, info.size, info.mode, info.nlink, info.mtime?.getTime()].join(" "));
      if (info.isDirectory) waiting.push(path);
    }
  }
  return found;
}

function difference(
  before: ReadonlyMap<string, string>,
  now: ReadonlyMap<string, string>,
): readonly string[] {
  const paths = new Set([...before.keys(), ...now.keys()]);
  return [...paths].filter((path) => before.get(path) !== now.get(path));
}

let world: Promise<World> | undefined;

Deno.test.afterAll(async () => {
  await (await world)?.[Symbol.asyncDispose]();
});

/** In a sample each line can do something: its program is there, and each kind has its share. */
async function chosen(kinds: readonly Looks[]): Promise<readonly Looks[]> {
  if (IS_FULL) return kinds;
  const missing = await missingPrograms(kinds.flatMap(({ lines }) => lines.map(programOf)));
  const all = kinds.reduce((sum, { lines }) => sum + lines.length, 0);
  return kinds.map(({ kind, lines }) => ({
    kind,
    lines: sample(
      lines.filter((line) => !missing.has(programOf(line))),
      Math.max(FEWEST_OF_A_KIND, Math.round(SAMPLE * lines.length / all)),
    ),
  }));
}

/** Its first word; what is no program's name belongs to the shell. */
function programOf(line: string): string {
  return /^[\w.-]+(?= |$)/.exec(line)?.[0] ?? ":";
}

async function missingPrograms(names: readonly string[]): Promise<ReadonlySet<string>> {
  const line = 'for name; do command -v -- "$name" > /dev/null || echo "$name"; done';
  const args = ["-c", line, "bash", ...new Set(names)];
  const { stdout } = await new Deno.Command("bash", { args }).output();
  return new Set(new TextDecoder().decode(stdout).trim().split("\n"));
}

/** What is wrong after a line has run; undefined if it was held. */
async function attempt(
  line: string,
  { places, runner }: World,
  before: ReadonlyMap<string, string>,
): Promise<string | undefined> {
  assert.equal(await runner.sandbox.hold(), "bubblewrap");
  const { output } = await runner.run("look", line, { timeoutMs: SECONDS * 1_000 });
  const changed = difference(before, fingerprint(places));
  if (changed.length > 0) return `changed ${changed.join(", ")}`;
  if (output.includes(SECRET)) return `showed what is denied: ${output.slice(0, 500)}`;
  // What the sandbox itself says; some of the lines start another one.
  const isHeld = !/^bwrap: /.test(output) || line.includes("bwrap");
  return isHeld ? undefined : `was not run: ${output}`;
}

Deno.test({
  name: "lines that would write, run, leak or connect do nothing of it in a look",
  ignore: Deno.build.os !== "linux",
  async fn(t) {
    world ??= open();
    const opened = await world;
    const all = await looksByKind(opened.places);
    assert.equal(all.length, KINDS);
    assert.ok(all.flatMap(({ lines }) => lines).length >= 1_000);
    const some = await chosen(all);
    for (const { kind, lines } of some) assert.ok(lines.length >= FEWEST_OF_A_KIND, `too few of ${kind}`);
    const lines = some.flatMap(({ lines }) => lines);
    const before = fingerprint(opened.places);
    const problems = new Map<string, string>();
    const waiting = [...lines];
    const work = async () => {
      for (let line = waiting.shift(); line !== undefined; line = waiting.shift()) {
        const problem = await attempt(line, opened, before);
        if (problem !== undefined) problems.set(line, problem);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, work));
    for (const line of IS_FULL ? lines : [...problems.keys()]) {
      await t.step(`a look tries: ${line.slice(0, 100).replaceAll("\n", " ⏎ ")}`, () => {
        assert.equal(problems.get(line), undefined);
      });
    }
    assert.equal(opened.connections, 0, "somebody was reached");
  },
});

Deno.test({
  name: "the same lines do change, show and reach something where they may: the canaries sing",
  ignore: Deno.build.os !== "linux",
  async fn() {
    world ??= open();
    const opened = await world;
    const { places, runner } = opened;
    const before = fingerprint(places);
    const [first] = await looksByKind(places);
    for (const line of first?.lines.slice(0, 20) ?? []) await runner.run("write", line);
    assert.ok(difference(before, fingerprint(places)).length >= 15);
    const { sandbox } = runner;
    const spec = await sandbox.specify({ access: "look+network", cwd: places.root }, []);
    const line = `cat .env; exec 3<> /dev/tcp/127.0.0.1/${places.port}`;
    const command = new RunningCommand(
      { ...spec, line, cwd: places.root, timeoutMs: SECONDS * 1_000 },
      () => {},
    );
    await command.ended;
    assert.match(command.output, new RegExp(SECRET));
    await waitUntil("the connection", () => opened.connections === 1);
  },
});
