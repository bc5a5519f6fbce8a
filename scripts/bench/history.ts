/** From the choice of a long session to its newest turns on screen, with the engine running; against a short one. */
import { startAgent } from "../../tests/support/agent.ts";
import { MESSAGES_IN_TURN, storeSession } from "../../tests/support/stored_session.ts";
import { atMost, group, growthRow, median } from "./row.ts";

const RUNS = 9;
const TURNS = 10_000 / MESSAGES_IN_TURN;

export const opening = group(["open_10k_messages"], async () => {
  await using agent = await startAgent({
    script: "say Hello there.",
    options: "sessions = { title = false }",
  });
  const { nvim } = agent;
  await nvim.command("Agent hello");
  await nvim.waitForScreen("· ready");
  await storeSession(agent, 1);
  await storeSession(agent, TURNS);
  const open = async (choice: number, answer: string): Promise<number> => {
    await nvim.keys("<Esc><Cmd>Agent new<CR>");
    await nvim.keys("<Esc><Cmd>Agent sessions<CR>");
    await nvim.waitForScreen("Sessions of this project · 3");
    await nvim.keys(`${choice}G`);
    const begun = performance.now();
    await nvim.keys("<CR>");
    await nvim.waitForScreen(answer);
    const time = performance.now() - begun;
    // Forgotten here, so that it is read again.
    await nvim.lua(`local chats = require("agent.chat") chats.close(chats.current())`);
    return time;
  };
  const values: number[] = [];
  const short: number[] = [];
  for (let run = 0; run < RUNS; run++) {
    short.push(await open(2, "answer 1:"));
    values.push(await open(1, `answer ${TURNS}:`));
  }
  return { open_10k_messages: growthRow("ms", median(values), atMost(100), median(short)) };
});
