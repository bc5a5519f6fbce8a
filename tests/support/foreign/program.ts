/** The scripted agent as a program of the whole: in a folder of its own, which its sandbox shows. */
import { join } from "node:path";
import { PLUGIN } from "../agent.ts";
import { type Scratch, scratch } from "../project.ts";

/** A step of a turn: see STEPS in agent.ts. */
export type AgentStep = Readonly<Record<string, unknown>>;

export interface AgentProgram extends AsyncDisposable {
  readonly folder: Scratch;
  /** Fields of the option `agents`, in Lua: an entry "scripted". */
  readonly row: string;
  /** The message `play NAME` plays this turn. */
  plays(name: string, ...steps: readonly AgentStep[]): Promise<void>;
}

/** @param words options of its command line, see agent.ts */
export async function agentProgram(words: readonly string[] = [], more = ""): Promise<AgentProgram> {
  const source = await Deno.readTextFile(join(PLUGIN, "tests/support/foreign/agent.ts"));
  const folder = await scratch({ "agent.ts": source });
  const cmd = [Deno.execPath(), "run", "-A", "--no-config", "--no-lock", folder.path("agent.ts")];
  const list = [...cmd, `scripts=${folder.root}`, ...words].map((word) => JSON.stringify(word)).join(", ");
  return {
    folder,
    row: `scripted = { title = "Scripted", cmd = { ${list} }, config = { ${
      JSON.stringify(folder.root)
    } }, set = { DENO_NO_UPDATE_CHECK = "1" }${more === "" ? "" : `, ${more}`} }`,
    plays: (name, ...steps) => folder.write(`${name}.json`, JSON.stringify(steps)),
    [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose](),
  };
}
