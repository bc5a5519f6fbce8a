/** Another agent as the runner of a session. Its parts are loaded with the first turn. */
import type { EngineConfig } from "../../protocol/config.ts";
import type { Runner } from "../agent/turn/runner.ts";
import type { ClientAbilities } from "../ports/abilities.ts";
import type { ForeignWork } from "./work.ts";

export function foreignRunner(
  config: NonNullable<EngineConfig["agent"]>,
  { agent: port, questions }: Pick<ClientAbilities, "agent"> & Partial<Pick<ClientAbilities, "questions">>,
): Runner {
  let work: ForeignWork | undefined;
  let isClosed = false;
  const loaded = async () => {
    const { ForeignWork } = await import("./work.ts");
    if (!isClosed) work ??= new ForeignWork({ config, port, questions });
    return work;
  };
  return {
    // The agent knows the size of its own window.
    model: { provider: config.name, name: config.title, contextWindow: Infinity },
    tools: [],
    async runTurn(message, ports, signal) {
      return await (await loaded())?.runTurn(message, ports, signal) ??
        { type: "stopped", reason: "cancelled" };
    },
    async options(change, ports, signal) {
      return await (await loaded())?.options(change, ports, signal) ??
        { options: [], asks: false, notes: [] };
    },
    async login(method, signal) {
      return await (await loaded())?.login(method, signal) ?? { methods: [] };
    },
    title: () => Promise.resolve(work?.title),
    close() {
      isClosed = true;
      work?.close();
    },
  };
}
