/**
 * Ollama's `/api/show` and `/api/ps`. Source: github.com/ollama/ollama, docs/api.md and api/types.go (ShowResponse,
 * ProcessModelResponse); capabilities in types/model/capability.go.
 */
import * as z from "../../../deps/zod.ts";
import type { Look, ReportedAbilities, Server } from "./reported.ts";

/** A local model's context costs memory, but an agent needs some. */
const WINDOW = 32_768;

const Show = z.object({
  capabilities: z.array(z.string()).nullish(),
  /** Since 0.40; "[false]" for a model that cannot think. */
  thinking: z.object({ values: z.array(z.union([z.boolean(), z.string()])) }).nullish().catch(undefined),
  /** Parameters of the Modelfile, one per line: "num_ctx                        8192". */
  parameters: z.string().nullish(),
  /** The host that runs a remote model; this server's memory does not matter then. */
  remote_host: z.string().nullish(),
  /** "llama.context_length" and others. */
  model_info: z.record(z.string(), z.unknown()).nullish(),
});

const Loaded = z.object({
  models: z.array(z.object({
    name: z.string(),
    size: z.number(),
    size_vram: z.number().nullish(),
    context_length: z.int().min(1).nullish().catch(undefined),
  })),
});

export const ollama: Server = {
  name: "Ollama",
  wires: ["ollama"],
  asksFor: WINDOW,

  async ask(model, look) {
    const [details, loaded] = await Promise.all([look("/api/show", { model }), inMemory(model, look)]);
    const show = Show.safeParse(details);
    if (!show.success) return undefined;
    const { capabilities, parameters, model_info: info } = show.data;
    const thinking = show.data.thinking?.values ?? thinkingOf(model, capabilities ?? []);
    const most = Object.entries(info ?? {}).find(([key]) => key.endsWith(".context_length"))?.[1];
    const set = Number(/^num_ctx\s+(\d+)\s*$/m.exec(parameters ?? "")?.[1]);
    return {
      server: "Ollama",
      // Versions before 0.6.4 do not report capabilities.
      ...(capabilities == null ? {} : {
        tools: capabilities.includes("tools"),
        sees: capabilities.includes("vision"),
      }),
      ...(thinking === undefined ? {} : { thinking }),
      ...(isCount(most) ? { most } : {}),
      ...(loaded?.context_length == null ? {} : { loaded: loaded.context_length }),
      ...(isCount(most) && show.data.remote_host ? { loaded: most } : {}),
      ...(isCount(set) ? { set } : {}),
    };
  },

  async running(model, look) {
    const loaded = await inMemory(model, look);
    if (loaded === undefined) return undefined;
    const { context_length: window, size, size_vram: onGpu } = loaded;
    return { window: window ?? undefined, size, onGpu: onGpu ?? size };
  },
};

/** The values of `think`, if the server reports only abilities. Source: docs/capabilities/thinking.mdx. */
function thinkingOf(model: string, abilities: readonly string[]): ReportedAbilities["thinking"] {
  if (!abilities.includes("thinking")) return undefined;
  return /gpt-?oss/i.test(model) ? ["low", "medium", "high"] : [true, false];
}

async function inMemory(model: string, look: Look) {
  const loaded = Loaded.safeParse(await look("/api/ps"));
  const names = [model, `${model}:latest`];
  return loaded.success ? loaded.data.models.find(({ name }) => names.includes(name)) : undefined;
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) > 0;
}
