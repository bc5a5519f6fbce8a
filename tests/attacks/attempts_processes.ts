/** Running programs, reaching other processes, and what surrounds the engine's own. */
import { spawnSync } from "node:child_process";
import os from "node:os";
import process from "node:process";
import { Worker as NodeWorker } from "node:worker_threads";
import type { Attempt, Targets } from "./attempts.ts";

function expectVariable(value: string | undefined, { secret }: Targets): void {
  if (value !== secret) throw new Error(`got ${value}`);
}

const RUNNING: readonly Attempt[] = [
  { name: "run a shell", run: () => new Deno.Command("/bin/sh", { args: ["-c", "true"] }).outputSync() },
  {
    name: "run itself",
    run: () => new Deno.Command(Deno.execPath(), { args: ["eval", "1"] }).outputSync(),
  },
  {
    name: "run a shell with node:child_process",
    run: () => {
      const { error } = spawnSync("/bin/sh", ["-c", "true"], { env: {} });
      if (error !== undefined) throw error;
    },
  },
  {
    name: "call a library of the system",
    run: () => Deno.dlopen("libc.so.6", { getpid: { parameters: [], result: "i32" } }).close(),
  },
  {
    name: "have a thread of Node read outside",
    run: ({ outside }) => {
      const code = `const { parentPort } = require("node:worker_threads");
        try { require("node:fs").readFileSync(${
        JSON.stringify(`${outside}/secret.txt`)
      }); parentPort.postMessage("") }
        catch (error) { parentPort.postMessage(String(error)) }`;
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      const worker = new NodeWorker(code, { eval: true });
      worker.on("message", (said: string) => said === "" ? resolve() : reject(new Error(said)));
      worker.on("error", reject);
      return promise.finally(() => worker.terminate());
    },
  },
  {
    name: "ask for more permissions",
    run: async () => {
      const { state } = await Deno.permissions.request({ name: "run" });
      if (state !== "granted") throw new Error(state);
    },
  },
];

const SURROUNDINGS: readonly Attempt[] = [
  { name: "read a variable", run: (t) => expectVariable(Deno.env.get(t.variable), t) },
  { name: "read a variable with node:process", run: (t) => expectVariable(process.env[t.variable], t) },
  { name: "read all variables", run: (t) => expectVariable(Deno.env.toObject()[t.variable], t) },
  { name: "set a variable", run: () => Deno.env.set("LD_PRELOAD", "/tmp/new.so") },
  { name: "read the supervisor's environment", run: () => Deno.readTextFile(`/proc/${Deno.ppid}/environ`) },
  {
    name: "read the supervisor's environment through a link",
    run: ({ root }) => Deno.readTextFile(`${root}/to-root/proc/${Deno.ppid}/environ`),
  },
  {
    name: "read its own environment through a link",
    run: ({ root }) => Deno.readTextFile(`${root}/to-root/proc/self/environ`),
  },
  {
    name: "open its own memory through a link",
    run: async ({ root }) => (await Deno.open(`${root}/to-root/proc/self/mem`, { write: true })).close(),
  },
  { name: "send a signal", run: ({ victim }) => Deno.kill(victim, "SIGCONT") },
  { name: "send a signal with node:process", run: ({ victim }) => process.kill(victim, "SIGCONT") },
  { name: "stop the supervisor", run: () => process.kill(Deno.ppid, 0) },
  { name: "list the processes", run: () => Deno.readDirSync("/proc").next() },
  {
    name: "look into a process through a link",
    run: ({ root, victim }) => Deno.readTextFile(`${root}/to-root/proc/${victim}/cmdline`),
  },
  {
    name: "find a process through a link",
    run: ({ root, victim }) => {
      const names = Array.from(Deno.readDirSync(`${root}/to-root/proc`), ({ name }) => name);
      if (!names.includes(String(victim))) throw new Error("not there");
    },
    limit: "deno",
  },
  { name: "learn the machine's name", run: () => Deno.hostname() },
  { name: "learn the user's name", run: () => os.userInfo() },
  { name: "learn the machine's addresses", run: () => Deno.networkInterfaces() },
];

export const PROCESSES: readonly Attempt[] = [...RUNNING, ...SURROUNDINGS];
