/** Real language servers in the child Neovim, as a user's init.lua starts them. */
import assert from "node:assert/strict";
import { languageServers } from "../../scripts/language_servers.ts";
import { withoutLateFiles } from "../model/model_messages.ts";
import type { ModelServer } from "../model/model_server.ts";
import { DEPS } from "../../scripts/environment.ts";
import type { AgentOptions, RunningAgent } from "./agent.ts";
import { USERS_PATH } from "./mines.ts";
import { sharedAgent } from "./shared_agent.ts";

export type Encoding = "utf-16" | "utf-8";
export const ENCODINGS: readonly Encoding[] = ["utf-16", "utf-8"];

export const MAIN = `import { greet } from "./greet.ts";
import { Circle } from "./shape.ts";

export function run(): void {
  const é漢 = "😀"; console.log("😀漢é", greet(é漢), greet("b"));
  console.log(Math.round(new Circle(1).area()));
}

const bad: number = "😀漢é"; export const worse: string = missing + bad;
`;

/** A project with one file that others use, and two errors. */
export const TYPESCRIPT = {
  "tsconfig.json": JSON.stringify({
    compilerOptions: {
      strict: true,
      noEmit: true,
      allowImportingTsExtensions: true,
      target: "esnext",
      module: "esnext",
      moduleResolution: "bundler",
      // A server reads the declarations of the DOM for seconds.
      lib: ["es5"],
      types: [],
    },
  }),
  "src/greet.ts":
    "// greet is a greeting\n/** Greets: 😀é漢. */\nexport function greet(name: string): string {\n  return `Hi ${name}`;\n}\n",
  "src/shape.ts":
    "export interface Shape {\n  area(): number;\n}\n\nexport class Circle implements Shape {\n  constructor(readonly r: number) {}\n  area() {\n    return 3 * this.r;\n  }\n}\n",
  "src/main.ts": MAIN,
  "src/console.d.ts": "declare const console: { log(...words: unknown[]): void };\n",
};

/** One turn: these calls, and a last word. */
export function turn(
  ...calls: readonly (readonly [tool: string, args: Readonly<Record<string, unknown>>])[]
): string {
  return calls.map(([tool, args]) => `call ${tool} ${JSON.stringify(args)}`).join("\n") +
    "\n---\nsay All done.\n";
}

export async function startTypescript(
  encoding: Encoding,
  script: string,
  options: Partial<AgentOptions> = {},
): Promise<RunningAgent> {
  const { options: more = "", files = [], ...rest } = options;
  const agent = await sharedWithServers({
    script,
    project: TYPESCRIPT,
    ...rest,
    options: `tools = { lsp_start = "always" }, ${more}`,
  });
  await agent.nvim.lua(await typescript(encoding));
  for (const file of files) {
    await agent.nvim.command(`edit ${file}`);
    // Writes are checked by servers that run already.
    await agent.nvim.waitFor(`#vim.lsp.get_clients({ name = "ts", bufnr = 0 }) > 0`);
  }
  return agent;
}

/** A program that the tests of a file share, see {@link sharedAgent}; each test has language servers of its own. */
export async function sharedWithServers(options: AgentOptions): Promise<RunningAgent> {
  const agent = await sharedAgent({ ...options, env: { ...USERS_PATH, ...options.env } });
  const end = async () => {
    await stopServers(agent);
    await agent[Symbol.asyncDispose]();
  };
  return { ...agent, [Symbol.asyncDispose]: end };
}

/** What a server has read of a project says nothing about the next test's. */
async function stopServers({ nvim }: RunningAgent): Promise<void> {
  const all = `require("agent.server").others({ _uninitialized = true })`;
  await nvim.lua(`for _, client in ipairs(${all}) do client:stop(true) end`);
  await nvim.waitFor(`#${all} == 0`);
}

/** Sends a message and waits for the turn's end; what the tools have told the model so far. */
export async function ask(agent: RunningAgent, text = "look"): Promise<readonly string[]> {
  await agent.nvim.command(`Agent! ${text}`);
  await agent.nvim.waitFor(`require("agent").status():find("ready$")`);
  assert.deepEqual(agent.server.problems, []);
  return toolResults(agent.server);
}

/** Lua as in an init.lua: the server of this offset encoding serves TypeScript. */
async function typescript(encoding: Encoding): Promise<string> {
  const { utf16, utf8 } = await languageServers(DEPS);
  const command = JSON.stringify(encoding === "utf-16" ? utf16 : utf8).slice(1, -1);
  return `
    vim.lsp.config("ts", {
      cmd = { ${command} },
      filetypes = { "typescript" },
      root_markers = { "tsconfig.json" },
      -- One process, and nothing from the network.
      init_options = { disableAutomaticTypingAcquisition = true, tsserver = { useSyntaxServer = "never" } },
    })
    vim.lsp.enable("ts")
    -- A machine under load takes long to start a server; where it speaks, nobody waits longer for this.
    require("agent.editor.lsp.published").first_ms = 20000
    local clients = require("agent.editor.lsp.clients")
    clients.start_ms, clients.answer_ms = 15000, 15000`;
}

/** What the tools have told the model in this session, in the order of the calls. */
export function toolResults(server: ModelServer): readonly string[] {
  const messages = server.requests.at(-1)?.body.messages;
  if (!Array.isArray(messages)) return [];
  return messages.filter(({ role }) => role === "tool").map(({ content }) =>
    withoutLateFiles(String(content))
  );
}
