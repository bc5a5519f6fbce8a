/**
 * An engine that has been taken over gets no further than its grants: the same command that the supervisor starts, with
 * a hostile script in the place of the engine's own.
 */
import assert from "node:assert/strict";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { AgentCommand } from "../../denops/agent/supervisor/agents/spawn.ts";
import { type Attempt, ATTEMPTS, NEEDS, type Report, type Targets } from "../attacks/attempts.ts";
import type { Orders } from "../attacks/hostile_engine.ts";
import { type Playground, playground, SECRETS, snapshot } from "../attacks/playground.ts";
import { PLUGIN } from "../support/agent.ts";
import { BUBBLEWRAP, DENO, type Level, LEVELS, type Prepared, prepareEngine } from "../support/engine.ts";
import { ENGINE } from "../support/processes.ts";
import { scratch } from "../support/project.ts";

/** What is tried here is Linux's, and macOS has no second level yet. */
const ignore = Deno.build.os !== "linux";

const HOSTILE = fileURLToPath(new URL("../attacks/hostile_engine.ts", import.meta.url));
const VARIABLE = "AGENT_TEST_SECRET";

interface Scene extends AsyncDisposable {
  readonly ground: Playground;
  readonly targets: Targets;
  /** The command for the project, or for another one. */
  prepare(level: Level, root?: string): Promise<Prepared>;
}

/** A project, what lies around it, and everything that an engine could want to reach. */
async function scene(): Promise<Scene> {
  await using stack = new AsyncDisposableStack();
  const ground = stack.use(await playground());
  const { root, outside, stateDir } = ground;
  const secret = SECRETS.outside;
  await Deno.mkdir(join(outside, "node_modules/p"), { recursive: true });
  await Deno.writeTextFile(join(outside, "node_modules/p/secret.json"), JSON.stringify({ secret }));
  await Deno.writeTextFile(join(outside, "secret.json"), JSON.stringify({ secret }));
  await Deno.writeTextFile(join(outside, "module.ts"), `export const secret: string = "${secret}";`);
  const other = stack.use(serve("0.0.0.0", () => undefined));
  const model = stack.use(serve("127.0.0.1", (path) => path === "/elsewhere" ? other.url : undefined));
  const sockets = stack.use(await scratch({ "nvim.user/0/.keep": "" }));
  const [socket, neovimSocket] = [join(outside, "socket"), sockets.path("nvim.user/0/nvim.1.0")];
  for (const path of [socket, neovimSocket]) {
    const listener = Deno.listen({ transport: "unix", path });
    stack.defer(() => listener.close());
  }
  const victim = new Deno.Command("sleep", { args: ["600"] }).spawn();
  stack.defer(async () => {
    victim.kill("SIGKILL");
    await victim.status;
  });
  Deno.env.set(VARIABLE, secret);
  stack.defer(() => Deno.env.delete(VARIABLE));

  const baseUrl = `${model.url}v1`;
  const prepare = (level: Level, project = root) =>
    prepareEngine({ level, root: project, stateDir, baseUrl });
  const { state, launch: { env: { DENO_DIR = "" } } } = await prepare(DENO);
  const owned = stack.move();
  return {
    ground,
    prepare,
    targets: {
      root,
      state,
      outside,
      secret,
      cacheFile: await someFile(join(DENO_DIR, "npm")),
      pluginFile: join(await Deno.realPath(PLUGIN), "denops/agent/main.ts"),
      modelPort: model.port,
      otherPort: other.port,
      socket,
      neovimSocket,
      variable: VARIABLE,
      victim: victim.pid,
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

/** Serves a module under every path but those that lead elsewhere. */
function serve(hostname: string, redirect: (path: string) => string | undefined) {
  const server = Deno.serve({ hostname, port: 0, onListen: () => {} }, (request) => {
    if (request.headers.get("upgrade") === "websocket") return Deno.upgradeWebSocket(request).response;
    const to = redirect(new URL(request.url).pathname);
    if (to !== undefined) return Response.redirect(to);
    return new Response("export default 1;", { headers: { "content-type": "application/javascript" } });
  });
  const { port } = server.addr;
  return { port, url: `http://127.0.0.1:${port}/`, [Symbol.asyncDispose]: () => server.shutdown() };
}

async function someFile(folder: string): Promise<string> {
  for await (const { name, isFile, isDirectory } of Deno.readDir(folder)) {
    if (isFile) return join(folder, name);
    const found = isDirectory ? await someFile(join(folder, name)) : "";
    if (found !== "") return found;
  }
  return "";
}

/** The command with the hostile script in the place of the engine's own; all else stays. */
function hostile({ launch }: Prepared): AgentCommand {
  const own = launch.args.filter((arg) => ENGINE.test(arg));
  assert.equal(own.length, 1);
  return { ...launch, args: launch.args.map((arg) => arg === own[0] ? HOSTILE : arg) };
}

async function reports(
  { program, args, env, cwd }: AgentCommand,
  attempts: readonly Attempt[],
  targets: Targets,
): Promise<readonly Report[]> {
  const orders: Orders = { targets, names: attempts.map(({ name }) => name) };
  const process = new Deno.Command(program, {
    args: [...args, JSON.stringify(orders)],
    env: { ...env },
    clearEnv: true,
    cwd,
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  });
  const { stdout, stderr } = await process.output();
  const said = new TextDecoder().decode(stdout).split("\n").filter((line) => line !== "");
  assert.equal(said.length, attempts.length, new TextDecoder().decode(stderr));
  return said.map((line): Report => JSON.parse(line));
}

/** What nothing of this may change: all that is around the project, and .git in it. */
async function untouchable({ ground, targets }: Scene) {
  const around = await snapshot(ground.base, [ground.root, targets.state]);
  return { ...around, ...await snapshot(join(ground.root, ".git")) };
}

function failed(all: readonly Report[]): readonly Report[] {
  return all.filter(({ succeeded }) => !succeeded);
}

function succeeded(all: readonly Report[]): readonly string[] {
  return all.filter((report) => report.succeeded).map(({ name }) => name);
}

Deno.test({
  name: "every attempt is a real one: without any sandbox it succeeds",
  ignore,
  async fn() {
    await using place = await scene();
    await using cache = await scratch();
    const { launch } = await place.prepare(DENO);
    const free: AgentCommand = {
      ...launch,
      args: ["run", "-A", "--quiet", "--no-lock", HOSTILE],
      env: { DENO_DIR: cache.root, [VARIABLE]: place.targets.secret },
    };
    const real = ATTEMPTS.filter(({ refusal }) => refusal === undefined);
    assert.deepEqual(failed(await reports(free, [...NEEDS, ...real], place.targets)), []);
  },
});

Deno.test({
  name: "with Deno's permissions alone every attempt fails but for the known limits",
  ignore,
  async fn() {
    await using place = await scene();
    const command = hostile(await place.prepare(DENO));
    const before = await untouchable(place);
    const prevented = ATTEMPTS.filter(({ limit }) => limit === undefined);
    assert.deepEqual(failed(await reports(command, NEEDS, place.targets)), []);
    const tried = await reports(command, prevented, place.targets);
    assert.deepEqual(succeeded(tried), []);
    assert.deepEqual(await untouchable(place), before);
    assertRefusals(tried);

    // If one of these fails one day, it is no limit any more: take the mark from it.
    const limits = ATTEMPTS.filter(({ limit }) => limit !== undefined);
    assert.deepEqual(failed(await reports(command, limits, place.targets)), []);
  },
});

Deno.test({
  name: "inside bubblewrap every attempt fails",
  ignore,
  async fn() {
    await using place = await scene();
    const command = hostile(await place.prepare(BUBBLEWRAP));
    const before = await untouchable(place);
    assert.deepEqual(failed(await reports(command, NEEDS, place.targets)), []);
    const tried = await reports(command, ATTEMPTS, place.targets);
    const limits = ATTEMPTS.filter(({ limit }) => limit === "always").map(({ name }) => name);
    assert.deepEqual(succeeded(tried), limits);
    assert.deepEqual(await untouchable(place), before);
    assertRefusals(tried);
  },
});

Deno.test({
  name: "a project whose path would grant another folder, because of a comma, is refused",
  ignore,
  async fn() {
    await using place = await scene();
    const root = `${place.ground.base}/a,${place.targets.outside}`;
    await Deno.mkdir(root, { recursive: true });
    for (const level of LEVELS) {
      await assert.rejects(
        place.prepare(level, root),
        /^Error: Cannot use .+: Deno takes no path with a comma\./,
      );
    }
  },
});

/** Where an attempt may fail for other reasons too, it has failed for the right one. */
function assertRefusals(tried: readonly Report[]): void {
  for (const { name, said } of tried) {
    const refusal = ATTEMPTS.find((attempt) => attempt.name === name)?.refusal;
    if (refusal !== undefined) assert.match(said, refusal, name);
  }
}
