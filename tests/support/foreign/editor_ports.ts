/** An editor without files behind the tools for other agents. */
import type { EditorToolPorts } from "../../../denops/agent/supervisor/foreign/tools/editor_tools.ts";

/** @param roots real paths */
export function editorPorts(
  roots: readonly string[],
  options: Partial<EditorToolPorts> = {},
): EditorToolPorts {
  return {
    roots,
    rules: () => ({ deny_read: ["**/.env"], read_rules: { deny: [], ask: ["asks/**"] } }),
    refusal: () => undefined,
    languages: () => Promise.resolve({ kind: "nothing", reason: "No language server runs." }),
    view: () => Promise.resolve({ unsaved: [] }),
    unsavedText: () => Promise.resolve(undefined),
    plan: () => [],
    ...options,
  };
}
