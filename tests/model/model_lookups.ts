/** The questions about models that need no script: Ollama's and the two lists of models. */
export interface Model {
  readonly name: string;
  /** As Ollama's `/api/show` says them: "completion", "tools", "thinking", "vision" … */
  readonly capabilities: readonly string[];
  /** Tokens. */
  readonly contextLength: number;
  /** Rows of the list of models, as its provider writes them; the model alone unless told. */
  readonly listed?: readonly object[];
}

const modified = "2026-01-01T00:00:00Z";
const details = {
  parent_model: "",
  format: "gguf",
  family: "scripted",
  families: ["scripted"],
  parameter_size: "8.0B",
  quantization_level: "Q4_K_M",
};

/** The answer to `method path`; null if there is no such model, nothing if it is no such question. */
export function lookUp(method: string, path: string, anthropic: boolean, model: Model): unknown {
  if (method === "POST" && path.endsWith("/api/show")) return show(model);
  if (method === "GET" && path.endsWith("/api/ps")) return { models: [] };
  if (method === "GET" && path.endsWith("/api/tags")) {
    return {
      models: [{
        name: model.name,
        model: model.name,
        modified_at: modified,
        size: 1,
        digest: "0".repeat(64),
        details,
      }],
    };
  }
  if (method === "GET" && path.endsWith("/v1/models")) {
    return anthropic ? anthropicModels(model) : openaiModels(model);
  }
  const one = method === "GET" ? /\/v1\/models\/(.+)$/.exec(path)?.[1] : undefined;
  if (one !== undefined) return one === model.name ? { id: one } : null;
  return undefined;
}

function show({ capabilities, contextLength }: Model): unknown {
  const model_info = {
    "general.architecture": "scripted",
    "general.parameter_count": 8000000000,
    "scripted.context_length": contextLength,
  };
  return {
    modelfile: "",
    parameters: "",
    template: "",
    details,
    model_info,
    capabilities,
    modified_at: modified,
  };
}

function openaiModels({ name, listed }: Model): unknown {
  return {
    object: "list",
    data: listed ?? [{ id: name, object: "model", created: 1767225600, owned_by: "script" }],
  };
}

function anthropicModels({ name, listed }: Model): unknown {
  const data = listed ?? [{ type: "model", id: name, display_name: name, created_at: modified }];
  return { data, has_more: false, first_id: name, last_id: name };
}

/** Where other servers tell what they can: this one is none of them. */
export function isOfOtherServers(method: string, path: string): boolean {
  return method === "GET" && /\/(?:props|api\/v0\/models)$/.test(path);
}
