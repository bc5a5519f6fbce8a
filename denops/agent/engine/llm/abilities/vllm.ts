/** vLLM's `/v1/models`. Source: github.com/vllm-project/vllm, vllm/entrypoints/openai: ModelCard.max_model_len. */
import { ModelList, type Server } from "./reported.ts";

export const vllm: Server = {
  name: "vLLM",
  wires: ["openai_chat", "openai_responses"],

  async ask(model, look) {
    const list = ModelList.safeParse(await look("/v1/models"));
    const card = list.success ? list.data.data.find(({ id }) => id === model) : undefined;
    return card?.max_model_len == null ? undefined : { server: "vLLM", loaded: card.max_model_len };
  },
};
