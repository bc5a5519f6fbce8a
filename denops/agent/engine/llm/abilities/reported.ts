/** The abilities that a server reports, and the interface to query one kind of server. */
import * as z from "../../../deps/zod.ts";
import type { WireName } from "../../../protocol/providers.ts";

/** Fields that the server does not report are undefined. */
export const ReportedAbilities = z.object({
  /** The server's name. */
  server: z.string().optional(),
  tools: z.boolean().optional(),
  /** Whether a message of the history may contain several calls. */
  parallel: z.boolean().optional(),
  /** Values of Ollama's `think`, see ModelRequest. */
  thinking: z.array(z.union([z.boolean(), z.string()])).optional(),
  sees: z.boolean().optional(),
  /** The model's own token limit. */
  most: z.int().min(1).optional(),
  /** Token limit of the loaded model. */
  loaded: z.int().min(1).optional(),
  /** Token limit from a refusal. */
  limit: z.int().min(1).optional(),
  /** Token limit that the user has set on the server. */
  set: z.int().min(1).optional(),
});
export type ReportedAbilities = Readonly<z.infer<typeof ReportedAbilities>>;

/**
 * Sends a query to the provider's host. @param path from the server's root @param body of a POST @returns the
 * JSON answer; undefined if there was none @throws {Error} if the server cannot be reached
 */
export type Look = (path: string, body?: Readonly<Record<string, unknown>>) => Promise<unknown>;

/** One kind of server. */
export interface Server {
  /** The name that users know. */
  readonly name: string;
  readonly wires: readonly WireName[];
  /** The default window in tokens, if the request sets the window. */
  readonly asksFor?: number;
  /** @returns undefined for another kind of server. @throws {Error} of `look` */
  ask(model: string, look: Look): Promise<ReportedAbilities | undefined>;
  /** How the model runs, after its first answer. @throws {Error} of `look` */
  running?(model: string, look: Look): Promise<Running | undefined>;
}

interface Running {
  /** Tokens. */
  readonly window: number | undefined;
  /** Bytes of memory, and the part of them on the GPU. */
  readonly size: number;
  readonly onGpu: number;
}

/** A server's model list in OpenAI's format. */
export const ModelList = z.object({
  data: z.array(z.object({
    id: z.string(),
    owned_by: z.string().nullish(),
    /** Reported by vLLM and SGLang. */
    max_model_len: z.int().min(1).nullish(),
  })),
});
