/** Tests of one file that share an engine: its start takes longer than most of its turns. */
import { join } from "node:path";
import { ALLOW, type EngineClient, type EngineOptions, startEngine } from "../support/acp.ts";
import { GREET } from "../support/agent.ts";
import { removeTree } from "../support/project.ts";

/** What a test chooses: its answers, its files, and how its client answers. */
export type EnginePart = Pick<
  EngineOptions,
  "script" | "project" | "permission" | "readTextFile" | "writeTextFile"
>;

/**
 * @param hasEditor whether the client reads and writes files
 * @returns gives an engine with these files, a server that knows of nothing before and an empty `seen`. Sessions of
 * earlier tests are stored and stay open.
 */
export function inOneEngine(hasEditor: boolean): (part: EnginePart) => Promise<EngineClient> {
  let started: Promise<EngineClient> | undefined;
  let part: EnginePart = { script: "" };
  const refuse = () => Promise.reject(new Error("this test's client has no editor"));
  const options: Omit<EngineOptions, "script"> = {
    permission: (request) => part.permission?.(request) ?? Promise.resolve(ALLOW),
    ...hasEditor
      ? {
        capabilities: { fs: { readTextFile: true, writeTextFile: true } },
        readTextFile: (request) => part.readTextFile?.(request) ?? refuse(),
        writeTextFile: (request) => part.writeTextFile?.(request) ?? refuse(),
      }
      : {},
  };
  Deno.test.afterAll(async () => {
    await (await started)?.[Symbol.asyncDispose]();
  });
  return async (next) => {
    part = next;
    if (started === undefined) {
      started = startEngine({
        ...options,
        ...next.project && { project: next.project },
        script: next.script,
      });
      return withoutEnd(await started, 0);
    }
    const engine = await started;
    const { root } = engine.project;
    for await (const { name } of Deno.readDir(root)) await removeTree(join(root, name));
    for (const [path, text] of Object.entries(next.project ?? GREET)) await engine.project.write(path, text);
    engine.server.restart(next.script);
    return withoutEnd(engine, engine.seen.length);
  };
}

/** The engine stays for the next test; what came before is not seen. */
function withoutEnd(engine: EngineClient, from: number): EngineClient {
  return {
    ...engine,
    get seen() {
      return engine.seen.slice(from);
    },
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
}
