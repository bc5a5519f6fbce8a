/** The bridge to a server over HTTP, as the program of an entry. */
import { join } from "node:path";
import type { McpEntry } from "../../../protocol/options/shapes.ts";
import type { Mount } from "../../system/sandbox/mounts.ts";
import { filledIn, type TemplateValues } from "../templates.ts";
import type { BridgeStart } from "./messages.ts";

/** The modules of the plugin and of its packages. */
export interface PluginModules {
  /** The plugin's folder. */
  readonly plugin: string;
  /** Deno's cache. */
  readonly denoDir: string;
}

/** Where Deno and its cache are in the sandbox. */
const DENO = "/run/agent-bridge-deno";
const CACHE = "/run/agent-bridge-cache";
const PLUGIN = "/run/agent-bridge-plugin";

export function bridgeProgram({ plugin, denoDir }: PluginModules): {
  readonly words: readonly string[];
  readonly mounts: readonly Mount[];
  readonly variables: Readonly<Record<string, string>>;
} {
  return {
    words: [
      DENO,
      "run",
      "--no-prompt",
      "--quiet",
      "--cached-only",
      "--no-remote",
      "--frozen",
      `--config=${join(PLUGIN, "deno.json")}`,
      "--allow-net",
      join(PLUGIN, "denops/agent/supervisor/mcp/http/bridge.ts"),
    ],
    mounts: [
      { kind: "read", path: DENO, source: Deno.execPath() },
      { kind: "read", path: CACHE, source: denoDir },
      { kind: "read", path: PLUGIN, source: plugin },
    ],
    variables: { DENO_DIR: CACHE, DENO_NO_UPDATE_CHECK: "1" },
  };
}

/** The host of a server: all that its bridge can reach. */
export function hostOf(url: string): string {
  const { host, protocol } = new URL(url);
  return /:\d+$/.test(host) ? host : `${host}:${protocol === "https:" ? 443 : 80}`;
}

/** @throws {Error} one line, if a variable is not set */
export function bridgeStart({ url = "", headers = {} }: McpEntry, values: TemplateValues): BridgeStart {
  return {
    url: filledIn(url, values),
    headers: Object.fromEntries(
      Object.entries(headers).map(([name, text]) => [name, filledIn(text, values)]),
    ),
  };
}
