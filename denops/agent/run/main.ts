/** `agent run`: one turn without Neovim, for terminals and CI. */
import { ConfigurationError } from "../headless/configuration.ts";
import type { Variables } from "../headless/folders.ts";
import { messageOf } from "../shared/errors.ts";
import { EXIT, readCommandLine, type RunRequest, usage } from "./command_line.ts";
import type { EndEvent, RunEvent } from "./events.ts";
import { JsonView } from "./json_view.ts";
import { Output, writeError } from "./output.ts";
import { prepare, UsageError } from "./preparation.ts";
import { Signals } from "./signals.ts";
import { TextView } from "./text_view.ts";
import { runTurn } from "./turn.ts";

/** @returns the exit code */
export async function main(args: readonly string[]): Promise<number> {
  let request: RunRequest;
  try {
    request = readCommandLine(args);
  } catch (error) {
    writeError(`${messageOf(error)}\n`);
    return EXIT.usage;
  }
  using signals = new Signals();
  const output = new Output((error) => {
    const isGone = error instanceof Deno.errors.BrokenPipe;
    if (!isGone) writeError(`Cannot write to standard output: ${messageOf(error)}.\n`);
    signals.stop(isGone ? "SIGPIPE" : "failure");
  });
  if (request.help) {
    output.write(usage());
    return EXIT.done;
  }
  const variables = Deno.env.toObject();
  using view = request.json ? new JsonView(output) : new TextView(output, variables);
  const emit = (event: RunEvent) => view.show(event);
  const end = await endOf(request, variables, signals, emit);
  emit(end);
  return signals.exitCode ?? end.code;
}

async function endOf(
  request: RunRequest,
  variables: Variables,
  signals: Signals,
  emit: (event: RunEvent) => void,
): Promise<EndEvent> {
  try {
    const preparation = await prepare(request, variables);
    if (request.unsandboxed) emit({ type: "notice", severity: "warning", text: UNSANDBOXED });
    return await runTurn(preparation, request, { variables, signals, emit });
  } catch (error) {
    const isUsage = error instanceof UsageError || error instanceof ConfigurationError;
    const code = isUsage ? EXIT.usage : EXIT.failed;
    return { type: "end", code, reason: isUsage ? "usage" : "failed", answer: "", error: messageOf(error) };
  }
}

const UNSANDBOXED = "--unsandboxed: commands that --allow covers run without a sandbox if none is available.";
