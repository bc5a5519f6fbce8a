/** What servers of local models say, in their own words. */
import assert from "node:assert/strict";
import { isLoading, isOutOfMemory, refusesCalls, windowIn } from "./local.ts";

const FULL: readonly (readonly [tokens: number | undefined, said: string])[] = [
  [8192, "request (13392 tokens) exceeds the available context size (8192 tokens), try increasing it"],
  [
    4096,
    '{"error":{"code":400,"message":"the request exceeds the available context size. try increasing the context size",' +
    '"type":"exceed_context_size_error","n_prompt_tokens":5210,"n_ctx":4096}}',
  ],
  [7424, "Cannot truncate prompt with n_keep (15028) >= n_ctx (7424)"],
  [
    8192,
    "The number of tokens to keep from the initial prompt is greater than the context length (n_keep: 8485 >= n_ctx: 8192).",
  ],
  [4096, "However, the model is loaded with context length of only 4096 tokens, which is not enough."],
  [32000, "Reached context length of 32000 tokens with model (arch: gpt-oss)"],
  [
    8192,
    "This model's maximum context length is 8192 tokens. However, you requested 9120 tokens in the messages",
  ],
  [131072, "This model's maximum context length is 131,072 tokens."],
  [undefined, "the input length exceeds the context length"],
  [undefined, "n_ctx (4)"],
];

Deno.test("the window that a refusal names, not what was asked for", () => {
  for (const [tokens, said] of FULL) assert.equal(windowIn(said), tokens, said);
});

Deno.test("no memory, a model that loads, one call at a time: each by itself", () => {
  const noMemory = [
    "model requires more system memory (7.5 GiB) than is available (5.2 GiB)",
    "llama-server reported out-of-memory during startup: cudaMalloc failed: out of memory",
    "CUDA error: out of memory",
    "ggml_backend_cuda_buffer_type_alloc_buffer: failed to allocate CUDA0 buffer",
    "Model loading was stopped due to insufficient system resources.",
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.",
    "vk::Device::allocateMemory: ErrorOutOfDeviceMemory",
  ];
  const others = [
    "the input length exceeds the context length",
    "server busy, please try again.  maximum pending requests exceeded",
    "Loading model",
    "This model only supports single tool-calls at once!",
    "The memory of the session is not known.",
  ];
  assert.deepEqual(noMemory.filter((said) => !isOutOfMemory(said)), []);
  assert.deepEqual(others.filter(isOutOfMemory), []);
  assert.deepEqual([...noMemory, ...others].filter((said) => isLoading(503, said)), ["Loading model"]);
  assert.ok(!isLoading(500, "Loading model"));
  assert.deepEqual([...noMemory, ...others].filter(refusesCalls), [
    "This model only supports single tool-calls at once!",
  ]);
});
