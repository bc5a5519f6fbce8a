/** No engine stays when its supervisor is killed, whatever it was doing. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { AgentCommand } from "../../denops/agent/supervisor/agents/spawn.ts";
import type { ParentOrders } from "../attacks/parent.ts";
import { ModelServer } from "../model/model_server.ts";
import { SECRET } from "../support/agent.ts";
import { BUBBLEWRAP, DENO, type EngineSetup, type Level, LEVELS, prepareEngine } from "../support/engine.ts";
import { ENGINE, marked, waitForNone } from "../support/processes.ts";
import { type Scratch, scratch, waitUntil } from "../support/project.ts";

/** Processes are looked up in /proc. */
const ignore = Deno.build.os !== "linux";

const PARENT = fileURLToPath(new URL("../attacks/parent.ts", import.meta.url));
const SURVIVOR = fileURLToPath(new URL("../attacks/hostile_survivor.ts", import.meta.url));
/** A variable of the supervisor's. */
const VARIABLE = "AGENT_TEST_OWN_SECRET";

interface Doomed extends AsyncDisposable {
  readonly project: Scratch;
  readonly server: ModelServer;
  readonly pid: number;
  /** Kills the supervisor. */
  kill(): Promise<void>;
}

async function supervisor(level: Level, change?: (command: AgentCommand) => AgentCommand): Promise<Doomed> {
  await using stack = new AsyncDisposableStack();
  const project = stack.use(await scratch({ "a.txt": "" }));
  const state = stack.use(await scratch());
  const server = stack.use(await ModelServer.start("say I think about it.\nwait never"));
  Deno.env.set(VARIABLE, SECRET);
  stack.defer(() => Deno.env.delete(VARIABLE));
  const { root } = project;
  const setup: EngineSetup = { level, root, stateDir: state.root, baseUrl: `${server.url}/v1` };
  const orders: ParentOrders = change === undefined
    ? { setup }
    : { command: change((await prepareEngine(setup)).launch) };
  const process = new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--quiet", "--no-check", PARENT, JSON.stringify(orders)],
    stdin: "null",
  }).spawn();
  const kill = async () => {
    try {
      process.kill("SIGKILL");
    } catch {
      // Killed before.
    }
    await process.status;
  };
  stack.defer(() => endAll(root));
  stack.defer(kill);
  const owned = stack.move();
  return { project, server, pid: process.pid, kill, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

/** What a failed test leaves. */
async function endAll(root: string): Promise<void> {
  for (const { pid } of await marked(root)) {
    try {
      Deno.kill(pid, "SIGKILL");
    } catch {
      // It has just ended.
    }
  }
}

function withoutLoyalty(command: AgentCommand): AgentCommand {
  return { ...command, args: command.args.map((arg) => ENGINE.test(arg) ? SURVIVOR : arg) };
}

for (const level of LEVELS) {
  Deno.test({
    name: `an engine ends with its supervisor, in the middle of a turn (${level.name})`,
    ignore,
    async fn() {
      await using doomed = await supervisor(level);
      await doomed.server.nextRequest();
      const { root } = doomed.project;
      // The supervisor also looks things up in the project.
      const engines = (await marked(root)).filter(({ command }) => ENGINE.test(command));
      assert.ok(engines.length > 0);
      for (const { pid } of engines) {
        const environment = await Deno.readTextFile(`/proc/${pid}/environ`);
        assert.ok(environment.includes("DENO_DIR"));
        assert.ok(!environment.includes(SECRET), "a variable was handed on");
      }
      await doomed.kill();
      await waitForNone([root]);
    },
  });
}

function existing(path: string): Promise<string | undefined> {
  return Deno.readTextFile(path).then((text) => text === "" ? undefined : text, () => undefined);
}

Deno.test({
  name: "inside bubblewrap an engine ends with its supervisor even if it does not want to",
  ignore,
  async fn() {
    await using doomed = await supervisor(BUBBLEWRAP, withoutLoyalty);
    const { root } = doomed.project;
    await waitUntil("the engine to start", () => existing(join(root, "started")));
    await doomed.kill();
    await waitForNone([root]);
  },
});

Deno.test({
  // If this fails one day, it is no limit any more: then it belongs into the test above.
  name:
    "known limit: with Deno's permissions alone an engine that has been taken over outlives its supervisor",
  ignore,
  async fn() {
    await using doomed = await supervisor(DENO, withoutLoyalty);
    const { root } = doomed.project;
    await waitUntil("the engine to start", () => existing(join(root, "started")));
    await doomed.kill();
    const pid = Number(await waitUntil("the engine to outlive it", () => existing(join(root, "outlived"))));
    const left = (await marked(root)).map((process) => process.pid);
    Deno.kill(pid, "SIGKILL");
    await waitForNone([root]);
    assert.deepEqual(left, [pid]);
  },
});
