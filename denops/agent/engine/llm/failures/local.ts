/** Recognises failures of local model servers: out of memory, full window, model loading. Pure. */

/**
 * Ollama ("model requires more system memory (5.3 GiB) than is available (3.5 GiB)", and the patterns that
 * llm/status.go looks for), llama.cpp ("cudaMalloc failed", "failed to allocate"), LM Studio ("insufficient
 * system resources"), vLLM ("CUDA out of memory").
 */
const NO_MEMORY = new RegExp(
  [
    "out of (?:device )?memory|more system memory|(?:not enough|insufficient) memory|insufficient system resources",
    "(?:cuda|hip)Malloc failed|failed to allocate|allocation failed|unable to allocate",
    "out_?of_?device_?memory",
  ].join("|"),
  "i",
);

export function isOutOfMemory(text: string): boolean {
  return NO_MEMORY.test(text);
}

/** llama.cpp answers 503 ("Loading model"); other servers let the request wait. */
export function isLoading(status: number, text: string): boolean {
  return status === 503 && /\bloading model\b|model is (?:still )?(?:being )?load/i.test(text);
}

/**
 * The window size in an error about a full window. llama.cpp: "the available context size (8192 tokens)",
 * `"n_ctx": 8192`. LM Studio: "context length of only 4096 tokens", "n_ctx (4096)", "n_ctx: 4096", "Reached
 * context length of 32000 tokens". vLLM, OpenAI and others: "maximum context length is 8192 tokens".
 */
const WINDOWS: readonly RegExp[] = [
  /"?\bn_ctx"?\s*(?::\s*|\()(\d+)/,
  /available context size \((\d[\d,]*)/i,
  /context length (?:is|of)(?: only)? (\d[\d,]*)/i,
];
/** Smallest plausible window in tokens. */
const LEAST_WINDOW = 512;

/** @returns tokens; undefined if the text has none */
export function windowIn(text: string): number | undefined {
  for (const pattern of WINDOWS) {
    const tokens = Number(pattern.exec(text)?.[1]?.replaceAll(",", ""));
    if (tokens >= LEAST_WINDOW) return tokens;
  }
  return undefined;
}

/** Llama 3's template: "This model only supports single tool-calls at once!" */
export function refusesCalls(text: string): boolean {
  return /only supports? (?:a )?single tool[ -]?calls?/i.test(text);
}
