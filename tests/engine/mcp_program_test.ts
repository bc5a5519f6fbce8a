/** Servers that are programs, and play faults: each ends, and the others work. */
import assert from "node:assert/strict";
import { join } from "node:path";
import type { Pipe } from "../../denops/agent/engine/mcp/pipe_transport.ts";
import { ServerPool } from "../../denops/agent/engine/mcp/server_pool.ts";
import { MCP_PROGRAM, programWords } from "../support/mcp_program.ts";
import { scratch, waitUntil } from "../support/project.ts";

const NOBODY = new AbortController().signal;

/** The standard streams of a program, as the supervisor's pipes give them. */
function pipeOf(words: readonly string[], running: Set<Deno.ChildProcess>): Pipe {
  const [program = "", ...args] = words;
  const options = { args, stdin: "piped", stdout: "piped", stderr: "null" } as const;
  const process = new Deno.Command(program, options).spawn();
  running.add(process);
  process.status.finally(() => running.delete(process));
  const input = process.stdin.getWriter();
  const output = process.stdout.pipeThrough(new TextDecoderStream()).getReader();
  input.closed.catch(() => {});
  return {
    write: (text) => input.write(new TextEncoder().encode(text)),
    async read() {
      const { value } = await output.read();
      return value === undefined
        ? { text: "", ended: `exit code ${(await process.status).code}` }
        : { text: value };
    },
    close() {
      try {
        process.kill("SIGKILL");
      } catch {
        // It has ended already.
      }
    },
  };
}

Deno.test("programs that die, flood, or never end a line are ended, and the honest one answers", async () => {
  await using folder = await scratch({ "server.js": MCP_PROGRAM });
  const running = new Set<Deno.ChildProcess>();
  const faults = ["none", "dies", "floods", "endless", "silent"];
  const pool = new ServerPool(faults.map((name) => ({ name })), [folder.root], {
    open: (name) =>
      Promise.resolve(pipeOf(programWords(join(folder.root, "server.js"), name, false), running)),
    notice: () => {},
  });
  const port = pool.join("s1");
  port.start();
  const logOf = (name: string) =>
    pool.states("s1").find((server) => server.name === name)?.log.join("\n") ?? "";
  const call = { id: "c1", progress: () => {} };
  await waitUntil("the honest server", () => port.tools.length > 0);
  const { text } = await port.call({ server: "none", tool: "echo" }, { text: "x" }, call, NOBODY);
  assert.match(text, /You said x$/);
  await waitUntil("the dead server", () => logOf("dies").includes("It ended: exit code 2."));
  await waitUntil("the flood", () => logOf("floods").includes("It ended: it sends too many messages."));
  await waitUntil(
    "the endless line",
    () => logOf("endless").includes("It ended: it sent a message of more than 16 MB."),
  );
  assert.equal(pool.states("s1").find(({ name }) => name === "silent")?.state, "starting");
  for (const name of faults) pool.states("s1", { name, to: "stop" });
  await waitUntil("their ends", () => running.size === 0);
});
