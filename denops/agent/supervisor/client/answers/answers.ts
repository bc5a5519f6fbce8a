/** The answers to an engine's requests, and the listeners for its notifications. */
import type { EngineAnswers, EngineListeners } from "../../agents/engine.ts";
import type { ClientContext } from "../context.ts";
import { agentAnswers } from "./agents.ts";
import { commandAnswers } from "./commands.ts";
import { embeddingAnswers } from "./embeddings.ts";
import { fileAnswers, fileListeners } from "./files.ts";
import { hookAnswers } from "./hooks.ts";
import { languageServerAnswers } from "./language_servers.ts";
import { lookupAnswers } from "./lookups.ts";
import { pipeAnswers } from "./pipes.ts";
import { skillAnswers } from "./skills.ts";
import { turnListeners } from "./updates.ts";
import { webAnswers } from "./web.ts";

/** @param isConfined whether the operating system confines the engine */
export function answers(client: ClientContext, isConfined: boolean): Omit<EngineAnswers, "provider_key"> {
  return {
    ...fileAnswers(client, isConfined),
    ...commandAnswers(client),
    ...lookupAnswers(client),
    ...languageServerAnswers(client),
    ...pipeAnswers(client),
    ...agentAnswers(client),
    ...skillAnswers(client),
    ...hookAnswers(client),
    ...webAnswers(client),
    ...embeddingAnswers(client),
  };
}

export function listeners(client: ClientContext): EngineListeners {
  return { ...fileListeners(client), ...turnListeners(client) };
}
