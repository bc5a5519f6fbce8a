/** The configuration of an engine whose model is a scripted server. */
import { ModelConfig } from "../../denops/agent/protocol/config.ts";
import type { WireName } from "../../denops/agent/protocol/providers.ts";
import { KEY } from "./key.ts";

export function engineConfig(
  url: string,
  wire: WireName = "openai_chat",
  changes: Partial<ModelConfig> = {},
): ModelConfig {
  return ModelConfig.parse({
    model: "model-1",
    safe_to_write: [{ glob: "**", safe: true }, { glob: "**/.env*", safe: false }],
    deny_read: ["**/.env*"],
    provider: {
      name: "test",
      wire,
      base_url: wire.startsWith("openai") ? `${url}/v1` : url,
      headers: {},
      api_key: KEY,
      key_source: "TEST_API_KEY",
    },
    ...changes,
  });
}
