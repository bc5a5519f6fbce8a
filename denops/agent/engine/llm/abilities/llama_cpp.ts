/**
 * llama.cpp's `/props`. Source: github.com/ggml-org/llama.cpp, tools/server/README.md and
 * common/jinja/caps.h. A router with several models reads the model from the query, and does not load it for
 * that.
 */
import * as z from "../../../deps/zod.ts";
import { ModelList, type Server } from "./reported.ts";

const Props = z.object({
  /** The window of one slot. */
  default_generation_settings: z.object({ n_ctx: z.int().min(1).nullish().catch(undefined) }).nullish(),
  /** Capabilities of the model's template; older servers do not report them. */
  chat_template_caps: z.object({
    supports_tools: z.boolean().nullish(),
    supports_tool_calls: z.boolean().nullish(),
    supports_parallel_tool_calls: z.boolean().nullish(),
  }).nullish(),
  modalities: z.object({ vision: z.boolean().nullish() }).nullish(),
});

export const llamaCpp: Server = {
  name: "llama.cpp",
  wires: ["openai_chat", "openai_responses"],

  async ask(model, look) {
    const list = ModelList.safeParse(await look("/v1/models"));
    if (!list.success || !list.data.data.some(({ owned_by }) => owned_by === "llamacpp")) return undefined;
    const props = Props.safeParse(await look(`/props?model=${encodeURIComponent(model)}&autoload=false`));
    if (!props.success) return { server: "llama.cpp" };
    const { default_generation_settings: settings, chat_template_caps: caps, modalities } = props.data;
    const tools = [caps?.supports_tools, caps?.supports_tool_calls].filter((one) => one != null);
    return {
      server: "llama.cpp",
      ...(tools.length === 0 ? {} : { tools: tools.every((can) => can) }),
      ...(caps?.supports_parallel_tool_calls == null ? {} : { parallel: caps.supports_parallel_tool_calls }),
      ...(modalities?.vision == null ? {} : { sees: modalities.vision }),
      ...(settings?.n_ctx == null ? {} : { loaded: settings.n_ctx }),
    };
  },
};
