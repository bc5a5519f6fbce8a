/** Schemas of structured options, for `options.ts`. */
import * as z from "../../deps/zod.ts";
import { WIRES } from "../providers.ts";

/** Lua has one table type: an empty list arrives as an empty map, and the other way round. */
export const list = <T extends z.ZodType>(item: T) =>
  z.preprocess(
    (value) => isEmptyRecord(value) ? [] : value,
    z.array(item),
  );
export const map = <T extends z.ZodType>(item: T) =>
  z.preprocess(
    (value) => Array.isArray(value) && value.length === 0 ? {} : value,
    z.record(z.string(), item),
  );

function isEmptyRecord(value: unknown): boolean {
  return typeof value === "object" && value !== null && !Array.isArray(value) &&
    Object.keys(value).length === 0;
}

export const httpUrl = z.url({ protocol: /^https?$/, error: "must be an http or https URL" });

/** An object without other keys. */
function strict<Shape extends z.ZodRawShape>(shape: Shape) {
  return z.strictObject(shape, {
    error: ({ code, keys }) =>
      code === "unrecognized_keys"
        ? `unknown option ${keys}. Known are ${Object.keys(shape).join(", ")}`
        : undefined,
  });
}

/** "env:NAME" or "cmd:a command that prints the key". */
const apiKey = z.string().regex(/^(env|cmd):.+/s, 'must be "env:NAME" or "cmd:COMMAND"');

const providerOptions = {
  wire: z.enum(WIRES).optional(),
  base_url: httpUrl.optional(),
  api_key: apiKey.optional(),
  headers: map(z.string()).optional(),
  /** For copilot: a company's own GitHub, and its API if that is not at "api." of it. */
  github_url: httpUrl.optional(),
  github_api_url: httpUrl.optional(),
};

/** The user's own provider, or changes to a known one. */
export const ProviderOptions = strict(providerOptions);
export type ProviderOptions = z.infer<typeof ProviderOptions>;

/** One entry of `safe_to_write`: true may be written without asking, false asks. */
export const SafeToWrite = z.object({
  glob: z.string().min(1),
  safe: z.boolean(),
  /** The reason for asking, as the end of a sentence: "git runs it automatically". */
  reason: z.string().optional(),
  /** Package managers write it: commands' changes are listed and kept. */
  packages: z.boolean().optional(),
  /**
   * For a manifest: it asks only if one of these keys or their content changes. Parts are joined by "/"; "*" matches
   * any.
   */
  keys: list(z.string()).optional(),
});
export type SafeToWrite = z.infer<typeof SafeToWrite>;

/** US dollars per million tokens. */
export const Price = z.object({
  input: z.number().min(0),
  output: z.number().min(0),
  cached_read: z.number().min(0).optional(),
  cached_write: z.number().min(0).optional(),
  /**
   * Input tokens above which a request costs more: input twice, output one and a half times as much. OpenAI and Google
   * do so.
   */
  long_context: z.number().min(1).optional(),
});
export type Price = z.infer<typeof Price>;

/** A branch name with this prefix is valid for git and not an option. Source: git-check-ref-format(1), ASCII only. */
const BRANCH_PREFIX = /^(?!.*(?:\.\.|\/\/|\/\.|\.\/|\.lock\/))[A-Za-z0-9][\w.\/-]{0,99}$/;
export const BranchPrefix = z.string()
  .regex(BRANCH_PREFIX, 'must be the beginning of a branch\'s name, such as "agent/"');

/** Tools are named `server__tool`, and providers accept at most 64 characters. */
export const McpName = z.string().regex(/^[A-Za-z0-9][A-Za-z0-9_-]{0,31}$/, {
  error: "must have at most 32 letters, digits, - and _",
});

const entry = {
  /** A program and its arguments; it speaks MCP on its standard streams. */
  cmd: list(z.string()).optional(),
  /** Names of Neovim's variables that the program gets, or names with values. */
  env: z.union([list(z.string()), map(z.string())]).optional(),
  /** Hosts that the program can reach: see policy/hosts.ts. */
  hosts: list(z.string()).optional(),
  /** A folder that the program can read and write; "~/" is the home folder. */
  cache: z.string().min(1).optional(),
  /** False: the program runs without a sandbox. */
  sandbox: z.boolean().optional(),
  /** The address of a server that speaks MCP over HTTP. */
  url: httpUrl.optional(),
  /** Headers for `url`. Here and in the other texts, ${NAME} and ${NAME:-default} stand for Neovim's variables. */
  headers: map(z.string()).optional(),
  /** It starts only when the user starts it. */
  off: z.boolean().optional(),
};

export const McpEntry = strict(entry).refine(
  ({ cmd, url }) => ((cmd ?? []).length > 0) !== (url !== undefined),
  "must have either cmd or url",
);
export type McpEntry = z.infer<typeof McpEntry>;

/** A command of the user that runs at an event, in the format of Claude Code's settings. */
const HookCommand = strict({
  type: z.literal("command").optional(),
  command: z.string().min(1),
  /** Further words of the command, which then is a program. */
  args: list(z.string()).optional(),
  /** A rule such as "Bash(git push *)" that the call must match too. */
  if: z.string().optional(),
  /** Seconds. */
  timeout: z.number().positive().max(600).optional(),
});

/** `matcher`: names of tools, or a regular expression. */
export const HookGroup = strict({ matcher: z.string().optional(), hooks: list(HookCommand) });

const agentEntry = {
  /** Its name on screen. */
  title: z.string().min(1).optional(),
  /** A program and its arguments; it speaks ACP on its standard streams. */
  cmd: list(z.string()).optional(),
  /** Files and folders of its own that it can read and write, such as "~/.claude"; "~/" is the home folder. */
  config: list(z.string()).optional(),
  /** Of these, what it can only read: files that name programs for later, also where no sandbox holds it. */
  read_only: list(z.string()).optional(),
  /** Hosts that it can reach: see policy/hosts.ts. */
  hosts: list(z.string()).optional(),
  /** Names of Neovim's variables that it gets. */
  env: list(z.string()).optional(),
  /** Further variables and their values. */
  set: map(z.string()).optional(),
  /** The id of its mode that asks before it acts. */
  asking_mode: z.string().min(1).optional(),
  /** It creates sandboxes for its own commands. */
  own_sandbox: z.boolean().optional(),
  /** The command that logs the user in, in a terminal. */
  login: list(z.string()).optional(),
  /** The command that installs it, for messages. */
  install: z.string().min(1).optional(),
};

/** The user's own agent, or changes to a known one. */
export const AgentOptions = strict(agentEntry);
export type AgentOptions = z.infer<typeof AgentOptions>;

/** The model for embeddings of the index. */
export const Embeddings = strict({ provider: z.string().min(1).max(100), model: z.string().min(1).max(200) });
export type Embeddings = z.infer<typeof Embeddings>;

export const SEARCH_ENGINES = ["searxng", "brave", "tavily", "exa", "kagi"] as const;

/** The engine of the tool search_web. */
export const WebSearch = strict({
  engine: z.enum(SEARCH_ENGINES),
  api_key: apiKey.optional(),
  /** An instance of SearXNG, or another address of an engine's API. */
  url: httpUrl.refine((url) => URL.parse(url)?.username === "", "must not contain a login").optional(),
})
  .refine(({ engine, url }) => engine !== "searxng" || url !== undefined, "needs url: your SearXNG instance")
  .refine(({ engine, api_key }) => engine !== "searxng" || api_key === undefined, "searxng has no api_key")
  .refine(({ engine, url }) => engine === "searxng" || url === undefined || isSecure(url), {
    error: "its url must be https, because the key is sent there",
  });
export type WebSearch = z.infer<typeof WebSearch>;

function isSecure(url: string): boolean {
  const { protocol, hostname } = new URL(url);
  return protocol === "https:" || /^(?:localhost|127\.0\.0\.1|\[::1\])$/.test(hostname);
}
