/** What a server tells of a model, and how one kind of server is asked. */
import { z } from "../../../deps/zod.ts";
import type { WireName } from "../../../protocol/providers.ts";

/** What it does not tell is undefined. */
export const ReportedAbilities = z.object({
  /** As the server is called. */
  server: z.string().optional(),
  tools: z.boolean().optional(),
  /** Several calls may stand in one message of the history. */
  parallel: z.boolean().optional(),
  /** What Ollama's `think` takes: see ModelRequest. */
  thinking: z.array(z.union([z.boolean(), z.string()])).optional(),
  sees: z.boolean().optional(),
  /** Tokens that the model takes at most, however it is run. */
  most: z.int().min(1).optional(),
  /** Tokens that it takes as it is loaded now. */
  loaded: z.int().min(1).optional(),
  /** Tokens that it has said to take when it refused more. */
  limit: z.int().min(1).optional(),
  /** Tokens that the user has set with the server. */
  set: z.int().min(1).optional(),
});
export type ReportedAbilities = Readonly<z.infer<typeof ReportedAbilities>>;

/**
 * One question, on the provider's own host. @param path from the server's root @param body of a POST
 * @returns its JSON; undefined if it has no such answer @throws {Error} if the server cannot be reached
 */
export type Look = (path: string, body?: Readonly<Record<string, unknown>>) => Promise<unknown>;

/** A kind of server. */
export interface Server {
  /** As users know it. */
  readonly name: string;
  readonly wires: readonly WireName[];
  /** The window is what a request asks for: tokens, unless somebody says. */
  readonly asksFor?: number;
  /** @returns undefined if it is no such server. @throws {Error} of `look` */
  ask(model: string, look: Look): Promise<ReportedAbilities | undefined>;
  /** Once it has answered: how the model runs. @throws {Error} of `look` */
  running?(model: string, look: Look): Promise<Running | undefined>;
}

interface Running {
  /** Tokens. */
  readonly window: number | undefined;
  /** Bytes of memory, and how many of them are on the GPU. */
  readonly size: number;
  readonly onGpu: number;
}

/** A server's list of models, as OpenAI has it. */
export const ModelList = z.object({
  data: z.array(z.object({
    id: z.string(),
    owned_by: z.string().nullish(),
    /** vLLM's and SGLang's. */
    max_model_len: z.int().min(1).nullish(),
  })),
});
