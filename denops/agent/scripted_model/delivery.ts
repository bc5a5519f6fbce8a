/** Sends the steps of an answer while the client is connected. */
import type { HttpConnection } from "./http_connection.ts";
import { type Gates, sleep } from "./answers.ts";
import { contentType, type ScriptedWire, type ScriptStep } from "./wires.ts";

/** The client went away in the middle of an answer. */
export class ClientGone extends Error {}

/** @throws {ClientGone} or the socket's error if the client disconnects before the last step */
export async function deliver(
  http: HttpConnection,
  wire: ScriptedWire,
  steps: Iterable<ScriptStep>,
  gates: Gates,
  onWrite?: (bytes: Uint8Array) => void,
): Promise<void> {
  const headers = { "content-type": contentType(wire), "cache-control": "no-cache" };
  let begun = false;
  let pause = 0;
  let split = Infinity;
  for (const step of steps) {
    if (http.gone.aborted) throw new ClientGone();
    if (step.kind === "cut") return http[Symbol.dispose]();
    if (step.kind === "respond") return await http.respond(step.code, step.headers, step.body);
    if (step.kind === "slow") pause = step.milliseconds;
    else if (step.kind === "split") split = step.bytes;
    else if (step.kind === "wait") await unlessGone(http, gates.pass(step.name, http.gone));
    else {
      if (begun && pause > 0) await unlessGone(http, sleep(pause, http.gone));
      if (!begun) await http.begin(200, headers);
      begun = true;
      const { bytes } = step;
      for (let at = 0; at < bytes.length; at += split) {
        const part = bytes.subarray(at, at + split);
        onWrite?.(part);
        await http.write(part);
      }
    }
  }
  if (!begun) await http.begin(200, headers);
  // The client has everything that it needs, and may disconnect before the end of the body.
  await http.end().catch(() => {});
}

/** Whether `error` only means that the connection is closed. */
export function isDisconnection(error: unknown): boolean {
  return error instanceof Deno.errors.BrokenPipe || error instanceof Deno.errors.ConnectionReset ||
    error instanceof Deno.errors.ConnectionAborted || error instanceof Deno.errors.BadResource;
}

async function unlessGone(http: HttpConnection, waiting: Promise<void>): Promise<void> {
  await waiting;
  if (http.gone.aborted) throw new ClientGone();
}
