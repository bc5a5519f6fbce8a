/** Waiting for what happens at the scripted model, with a limit. */
import type { ModelServer } from "../model/model_server.ts";
import { DEFAULT_TIMEOUT, waitUntil, within } from "./project.ts";

/** Waits until an answer has come to `wait name`. */
export async function reached(server: ModelServer, name: string): Promise<void> {
  const { done } = await within(DEFAULT_TIMEOUT, server.reached(name));
  if (!done) throw new Error(`No answer has come to "wait ${name}".\n${server.problems.join("\n")}`);
}

/** Waits until the client has closed the connection in the middle of its newest answer. */
export async function disconnected(server: ModelServer): Promise<void> {
  await waitUntil("the client to close the connection", () => server.requests.at(-1)?.aborted);
}
