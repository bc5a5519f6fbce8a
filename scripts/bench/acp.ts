/** From the start of `agent acp` to the request at the server, beside the start of a chat in Neovim. */
import { client, methods, ndJsonStream } from "../../denops/agent/deps/acp_sdk.ts";
import { startAgent } from "../../tests/support/agent.ts";
import { type RunPlace, runPlace, startRun } from "../../tests/support/run.ts";
import { group, growthRow, median, times } from "./row.ts";
import { OPTIONS, untilRequest, workedIn } from "./submit.ts";

const RUNS = 5;
/** Of the same figure in Neovim; the rest is noise of a few runs. */
const NO_SLOWER = 1.1;

/** Not slower than the first message in a Neovim that runs. */
export const acpStart = group(["acp_submit"], async () => {
  await using before = await workedIn();
  const config = { sessions: { title: false } };
  await using place = await runPlace({ script: "", beside: before, config });
  const values: number[] = [];
  const inNeovim: number[] = [];
  for (let run = 0; run < RUNS; run++) {
    {
      await using agent = await startAgent({ ...OPTIONS, beside: before });
      inNeovim.push(await untilRequest(agent.server, () => agent.nvim.command("Agent hello")));
    }
    values.push(await startAndSubmit(place));
  }
  return { acp_submit: growthRow("ms", median(values), times(NO_SLOWER), median(inNeovim)) };
});

async function startAndSubmit(place: RunPlace): Promise<number> {
  const processes: Deno.ChildProcess[] = [];
  const value = await untilRequest(place.server, async () => {
    const process = startRun(place, ["acp"]);
    processes.push(process);
    const { agent } = client({ name: "bench" })
      .onNotification(methods.client.session.update, () => {})
      .connect(ndJsonStream(process.stdin, process.stdout));
    const cwd = place.project.root;
    await agent.request(methods.agent.initialize, { protocolVersion: 1 });
    const { sessionId } = await agent.request(methods.agent.session.new, { cwd, mcpServers: [] });
    const prompt = [{ type: "text" as const, text: "hello" }];
    await agent.request(methods.agent.session.prompt, { sessionId, prompt });
  });
  for (const process of processes) {
    process.kill("SIGTERM");
    await process.status;
  }
  return value;
}
