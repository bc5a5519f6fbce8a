import assert from "node:assert/strict";
import fc from "fast-check";
import { ANY_CHARACTER } from "../../../../../tests/support/any_character.ts";
import { checkError } from "../../../../../tests/support/model_client.ts";
import { garbageError, statusError, streamError } from "./failures.ts";
import { connectionError, cutOffError, htmlError, silenceError, tooLargeError } from "./transport.ts";
import { oneLine, type Target } from "./text.ts";

const target: Target = {
  baseUrl: "https://models.test/v1",
  provider: "test",
  model: "model-1",
  keySource: "TEST_API_KEY",
  secrets: ["sk-12345678"],
};

const statuses: readonly (readonly [status: number, kind: string, message: string])[] = [
  [401, "auth", "Cannot use test: the API key was refused (HTTP 401: no). Check TEST_API_KEY."],
  [403, "auth", "Cannot use test: the API key was refused (HTTP 403: no). Check TEST_API_KEY."],
  [402, "auth", "Cannot use test: payment is required (HTTP 402: no). Check the account's credit."],
  [
    407,
    "auth",
    "Cannot use test: the proxy requires a login (HTTP 407: no). Set it in the proxy's address.",
  ],
  [
    404,
    "not_found",
    'Cannot find model "model-1" at https://models.test/v1 (HTTP 404: no). Check the options model and base_url.',
  ],
  [400, "bad_request", 'Cannot ask test: it refused the request (HTTP 400: no). Check the model "model-1".'],
  [413, "bad_request", 'Cannot ask test: it refused the request (HTTP 413: no). Check the model "model-1".'],
  [429, "rate_limited", "Rate limit reached at test (HTTP 429: no). Try again later."],
  [500, "overloaded", "test answered HTTP 500 (no). Try again later."],
  [529, "overloaded", "test answered HTTP 529 (no). Try again later."],
  [
    302,
    "setup",
    "Cannot use https://models.test/v1: it redirects (HTTP 302: no). Set base_url to the address itself.",
  ],
];

for (const [status, kind, message] of statuses) {
  Deno.test(`HTTP ${status} says what to check`, () => {
    const error = statusError(status, "no", target);
    assert.equal(error.message, message);
    assert.equal(error.kind, kind);
    assert.equal(statusError(status, "", target).message, message.replace(": no)", ")").replace(" (no)", ""));
  });
}

/** fetch puts the reason into the chain of causes; older versions put it into the message. */
function fetchError(reason: string, url = "http://models.test/"): Error {
  return new TypeError("fetch failed", {
    cause: new Error(`error sending request for url (${url}): ${reason}`),
  });
}

const broken: readonly (readonly [what: string, error: unknown, message: RegExp, retryable: boolean])[] = [
  [
    "refused",
    fetchError("client error (Connect): tcp connect error: Connection refused (os error 111)"),
    /refused\. Is the server running/,
    false,
  ],
  [
    "refused, as older versions say it",
    new TypeError("error sending request: Connection refused"),
    /refused\. Is the server/,
    false,
  ],
  [
    "no such host",
    fetchError("client error (Connect): dns error: failed to lookup address information"),
    /unknown host\. Check base_url/,
    false,
  ],
  [
    "a proxy with a login",
    fetchError("client error (Connect): proxy authentication required"),
    /: the proxy requires a login\. Set it in the proxy's address\./,
    false,
  ],
  [
    "a certificate",
    fetchError("invalid peer certificate: UnknownIssuer"),
    /TLS failed: .*UnknownIssuer.*certificate/,
    false,
  ],
  [
    "https where http is spoken",
    fetchError("received corrupt message of type InvalidContentType"),
    /TLS failed/,
    false,
  ],
  [
    "reset",
    fetchError("client error (SendRequest): connection error: Connection reset by peer"),
    /broke/,
    true,
  ],
  [
    "closed",
    fetchError("client error (SendRequest): connection closed before message completed"),
    /broke/,
    true,
  ],
  [
    "a host whose name says something else",
    fetchError("connection reset", "https://dns.tls-refused.test/lookup"),
    /broke/,
    true,
  ],
  [
    "not permitted",
    new Error('Requires net access to "a.test:443", run again with the --allow-net flag'),
    /not granted/,
    false,
  ],
  [
    "a key that is no header",
    new TypeError('Invalid header value: "Bearer sk-12345678\n"'),
    /characters that HTTP cannot carry\. Check TEST_API_KEY/,
    false,
  ],
  [
    "a key in another script",
    new TypeError("'headers' of 'RequestInit' (Argument 2) is not a valid ByteString"),
    /Check TEST_API_KEY/,
    false,
  ],
  [
    "a port that fetch refuses",
    new TypeError("Fetch failed: Requests to port 1 are blocked"),
    /port 1 are blocked\. Check base_url/,
    false,
  ],
  ["anything thrown", "boom", /broke/, true],
];

for (const [what, thrown, message, retryable] of broken) {
  Deno.test(`no connection: ${what}`, () => {
    const failure = connectionError(thrown, target);
    assert.match(failure.error.message, message);
    assert.equal(failure.error.kind, "network");
    assert.equal(failure.retryable, retryable);
    checkError(failure.error.message);
    assert.ok(!failure.error.message.includes("sk-12345678"));
  });
}

/** As the providers have said it. */
const FULL: readonly (readonly [who: string, said: string])[] = [
  ["OpenAI", "Your input exceeds the context window of this model. Please adjust your input and try again."],
  [
    "OpenAI",
    "This model's maximum context length is 8192 tokens. However, your messages resulted in 8545 tokens.",
  ],
  ["OpenAI", '{"error":{"message":"Too long","code":"context_length_exceeded"}}'],
  ["Anthropic", "prompt is too long: 213462 tokens > 200000 maximum"],
  ["Gemini", "The input token count (1196265) exceeds the maximum number of tokens allowed (1048575)."],
  [
    "OpenRouter",
    "This endpoint's maximum context length is 32768 tokens. However, you requested about 40000 tokens.",
  ],
  ["DeepSeek", "This model's maximum context length is 65536 tokens. However, you requested 70000 tokens"],
  ["vLLM", "You passed 1015 input tokens. However, the model's context length is only 1024 tokens."],
  ["llama.cpp", "the request exceeds the available context size. try increasing the context size"],
  [
    "LM Studio",
    "Trying to keep the first 5000 tokens when tokens to keep is greater than the context length",
  ],
  ["xAI", "This model's maximum prompt length is 131072 but the request contains 537812 tokens."],
  ["Groq", "Please reduce the length of the messages or completion."],
  ["Mistral", "Prompt contains 40000 tokens, too large for model with 32768 maximum context length"],
  ["Ollama", "the input length exceeds the context length"],
  ["LM Studio, llama.cpp", "Cannot truncate prompt with n_keep (15028) >= n_ctx (7424)"],
  [
    "LM Studio 0.3",
    "Trying to keep the first 6547 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens, which is not enough.",
  ],
  [
    "LM Studio, in an answer",
    "Reached context length of 32000 tokens with model (arch: gpt-oss) that does not " +
    "currently support mid-generation context overflow.",
  ],
];

Deno.test("a full window is said as that, whoever says it how, and nothing else is", () => {
  for (const [who, said] of FULL) {
    const { kind, message } = streamError(said, target);
    assert.equal(kind, "window_full", `${who}: ${message}`);
    assert.match(
      message,
      /^The session no longer fits the model's window \(.*\)\. Try :Agent new, or (?::Agent session fork|give the model a larger)/,
    );
    checkError(message);
  }
  const others = [
    "max_tokens is too large: 100000. This model supports at most 16384 completion tokens.",
    "Request too large for gpt-4 on tokens per min (TPM): Limit 30000, Requested 40000.",
    "The model is overloaded.",
    "image exceeds 5 MB maximum",
  ];
  for (const said of others) assert.equal(streamError(said, target).kind, "overloaded", said);
});

Deno.test("whatever others write, a message is one short line without secrets that says what to check", () => {
  const text = fc.oneof(
    fc.string({ unit: ANY_CHARACTER, maxLength: 40 }).map((part) => part.repeat(10)),
    fc.array(fc.constantFrom("sk-12345678", "\n", "😀", "\u001b[31m", "word "), { maxLength: 120 }).map((
      all,
    ) => all.join("")),
  );
  fc.assert(fc.property(text, text, fc.integer({ min: 300, max: 599 }), (detail, name, status) => {
    const odd = { ...target, provider: name, model: name, baseUrl: name, keySource: name };
    const errors = [
      statusError(status, detail, target),
      garbageError(detail, target),
      streamError(detail, target),
      connectionError(new Error(detail), target).error,
    ];
    for (const { message } of errors) {
      checkError(message);
      assert.ok(!message.includes("sk-12345678"), message);
      assert.ok(message.isWellFormed() || !detail.isWellFormed());
    }
    const long = [
      statusError(status, detail, odd),
      htmlError(odd),
      silenceError(60, odd),
      cutOffError(odd, true),
      tooLargeError(8e6, odd),
    ];
    for (const { message } of long) checkError(message);
  }));
});

Deno.test("a secret that is cut at the end of the line does not show its beginning", () => {
  for (let padding = 150; padding < 300; padding++) {
    const { message } = statusError(401, `${"x".repeat(padding)}sk-12345678`, target);
    assert.ok(!message.includes("sk-1"), message);
  }
});

const lines: readonly (readonly [text: string, most: number, line: string])[] = [
  ["", 10, ""],
  [" a \n\t b\r\n", 10, "a b"],
  ["a\u0000b\u001b[1mc\u009bd", 20, "ab[1mcd"],
  ["0123456789", 10, "0123456789"],
  ["0123456789a", 10, "012345678…"],
  ["01234567😀9", 10, "01234567…"],
  ["abc", 0, "…"],
];

for (const [text, most, line] of lines) {
  Deno.test(`one line of ${JSON.stringify(text)} in ${most}`, () => assert.equal(oneLine(text, most), line));
}

Deno.test("what a proxy may be the cause of names it", () => {
  const behind = { ...target, proxy: "proxy.test:3128" };
  const errors = [
    connectionError(new TypeError("tcp connect error: Connection refused"), behind).error,
    connectionError(new TypeError("invalid peer certificate: UnknownIssuer"), behind).error,
    htmlError(behind),
    silenceError(60, behind),
    garbageError("<x>", behind),
    cutOffError(behind, false),
    statusError(407, "", behind),
    statusError(502, "", behind),
  ];
  for (const { message } of errors) assert.match(message, / \(proxy proxy\.test:3128\)/);
  assert.match(errors[0]?.message ?? "", /Check the proxy, or name the host in NO_PROXY\.$/);
  assert.match(errors[1]?.message ?? "", /Set DENO_CERT to the certificate of its CA\.$/);
});
