/**
 * The engine: an ACP agent on stdin and stdout for one workspace, whose folders are its arguments.
 * `--state=FOLDER` before them stores sessions there; otherwise they end with the process. The engine exits
 * when stdin ends.
 */
import { MessageTooLargeError } from "../deps/acp_sdk.ts";
import { withDefaults } from "../policy/defaults.ts";
import { standardPipe } from "../shared/byte_pipe.ts";
import { type EngineConfig, hasModel, ModelConfig } from "../protocol/config.ts";
import { firstProblem } from "../protocol/options/problems.ts";
import { ModelLists } from "../models/ask_models.ts";
import { messageStream } from "../shared/message_stream.ts";
import { VERSION } from "../protocol/version.ts";
import { noEditor } from "./acp/editor.ts";
import { serveAcp } from "./acp/serve.ts";
import { loopRunner } from "./agent/turn/loop_runner.ts";
import type { LoopOptions } from "./agent/turn/loop_models.ts";
import { NO_RUNNER, type Runner } from "./agent/turn/runner.ts";
import { foreignRunner } from "./foreign/runner.ts";
import { WireLog } from "./llm/wire_log.ts";
import { createModel, createSummarizer, type ModelPorts, otherModel } from "./llm/model.ts";
import { WarmUp } from "./session/warm_up.ts";
import { openStorage, storageInMemory } from "./storage.ts";
import { IdleSweep } from "./store/sweep.ts";
import { TOOLS } from "./tools/registry.ts";

/** Other clients configure the engine with this variable, as JSON. */
function configFromEnvironment(): ModelConfig | undefined {
  const text = Deno.permissions.querySync({ name: "env", variable: "AGENT_CONFIG" }).state === "granted"
    ? Deno.env.get("AGENT_CONFIG")
    : undefined;
  if (text === undefined) return undefined;
  const parsed = ModelConfig.safeParse(withDefaults(parseJson(text)));
  if (!parsed.success) throw new Error(`AGENT_CONFIG: ${firstProblem(parsed.error)}`);
  return parsed.data;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The parser's message quotes the text, which may contain a key.
    throw new Error("AGENT_CONFIG: it is not JSON");
  }
}

const state = Deno.args[0]?.startsWith("--state=") ? Deno.args[0].slice("--state=".length) : undefined;
const args = state === undefined ? Deno.args : Deno.args.slice(1);
const folders = args.length > 0 ? args : [Deno.cwd()];
const roots = await Promise.all(folders.map((folder) => Deno.realPath(folder)));
const { database, archive, usage, reviews, index, facts } = await openStorage(state, roots);
const lists = new ModelLists(fetch);
const environment = { roots, os: Deno.build.os };

const warmUp = new WarmUp();
function runnerOf(config: EngineConfig, abilities: LoopOptions["abilities"], ports: ModelPorts): Runner {
  const { agent } = abilities;
  if (config.agent !== undefined && agent !== undefined) {
    return foreignRunner(config.agent, { ...abilities, agent });
  }
  if (!hasModel(config)) return { ...NO_RUNNER, tools: TOOLS };
  const { wireLog } = ports;
  return loopRunner({
    ...{ config, tools: TOOLS, environment, abilities, wireLog },
    model: createModel(config, ports),
    summarizer: createSummarizer(config, ports),
    modelOf: (name, listed) => otherModel(config, name, listed, ports),
  });
}

const connection = serveAcp(messageStream(standardPipe()), {
  roots,
  version: VERSION,
  usage,
  index,
  notice: () => database.notice,
  review: { reviews, store: archive.store },
  archive,
  onServing: (isBusy) => new IdleSweep(database, isBusy).start(),
  ownConfig: configFromEnvironment,
  models: async (config) => config.provider === undefined ? undefined : await lists.of(config.provider),
  runner: (config, abilities, renew) => runnerOf(config, abilities, { facts, renew, wireLog: new WireLog() }),
  warmUp: (config, abilities, send, isLate) =>
    warmUp.begin({
      ...{ roots, config, editor: noEditor, inMemory: storageInMemory, send, isLate },
      runner: (fetch) => runnerOf(config, abilities, { fetch }),
    }),
});
await connection.closed;
await archive.list.flush();
const { reason } = connection.signal;
if (reason instanceof MessageTooLargeError) {
  console.error(
    `Cannot read on: the client sent a message of more than ${reason.maxMessageBytes / 2 ** 20} MB.`,
  );
  Deno.exit(1);
}
Deno.exit(0);
