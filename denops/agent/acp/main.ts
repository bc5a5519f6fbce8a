/** `agent acp`: the plugin as an ACP agent on stdin and stdout, which carry nothing but the protocol. */
import { MessageTooLargeError } from "../deps/acp_sdk.ts";
import { standardPipe } from "../shared/byte_pipe.ts";
import { messageStream } from "../shared/message_stream.ts";
import { AcpAgent } from "./serve.ts";

const INVALID_REQUEST = -32600;

const HELP = `Usage: agent acp

Serves the Agent Client Protocol on stdin and stdout, for editors such as Zed.
The end of stdin ends it. See :help agent-acp.`;

/** Serves until the client closes the connection. @returns the exit code */
export async function main(args: readonly string[]): Promise<number> {
  if (args.length > 0) {
    const isHelp = args[0] === "--help" || args[0] === "-h";
    (isHelp ? console.log : console.error)(HELP);
    return isHelp ? 0 : 2;
  }
  const pipe = standardPipe();
  await using agent = new AcpAgent();
  const connection = agent.connect(messageStream(pipe));
  await Promise.race([connection.closed, terminated()]);
  const { reason } = connection.signal;
  if (reason instanceof MessageTooLargeError) {
    const error = { code: INVALID_REQUEST, message: `Cannot read the message: ${reason.message}` };
    await pipe.write(new TextEncoder().encode(`${JSON.stringify({ jsonrpc: "2.0", id: null, error })}\n`));
  }
  return 0;
}

/** Resolves at a signal to end. */
function terminated(): Promise<void> {
  return new Promise((resolve) => {
    if (Deno.build.os === "windows") return;
    for (const name of ["SIGTERM", "SIGINT", "SIGHUP"] as const) Deno.addSignalListener(name, resolve);
  });
}
