/**
 * LM Studio's `/api/v0/models`. Source: lmstudio.ai/docs/developer/rest/endpoints, and the API changelog for
 * `capabilities` (0.3.16). It offers tools to every model in its own format, so a model that is not trained
 * for tools still has them.
 */
import * as z from "../../../deps/zod.ts";
import type { Server } from "./reported.ts";

const List = z.object({
  data: z.array(z.object({
    id: z.string(),
    /** "llm", "vlm" (accepts images), "embeddings" */
    type: z.string(),
    /** "loaded", "not-loaded" */
    state: z.string(),
    max_context_length: z.int().min(1).nullish(),
    /** Of a loaded model. */
    loaded_context_length: z.int().min(1).nullish(),
    capabilities: z.array(z.string()).nullish(),
  })),
});

export const lmStudio: Server = {
  name: "LM Studio",
  wires: ["openai_chat", "openai_responses"],

  async ask(model, look) {
    const list = List.safeParse(await look("/api/v0/models"));
    if (!list.success) return undefined;
    const known = list.data.data.filter(({ type }) => type !== "embeddings");
    const loaded = known.filter(({ state }) => state === "loaded");
    // A single loaded model answers to any name.
    const found = known.find(({ id }) => id === model) ?? (loaded.length === 1 ? loaded[0] : undefined);
    if (found === undefined) return { server: "LM Studio" };
    return {
      server: "LM Studio",
      sees: found.type === "vlm",
      ...(found.capabilities?.includes("tool_use") === true ? { tools: true } : {}),
      ...(found.max_context_length == null ? {} : { most: found.max_context_length }),
      ...(found.loaded_context_length == null ? {} : { loaded: found.loaded_context_length }),
    };
  },
};
