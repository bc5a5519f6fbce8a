/** A gate's context without an engine: no command of it is rehearsed unless told. */
import { FileRules } from "../../denops/agent/protocol/config.ts";
import type { GateContext } from "../../denops/agent/supervisor/gate/gate.ts";

export function gateContext(
  own:
    & Pick<GateContext, "chat" | "root" | "rules" | "log" | "commands" | "view">
    & Partial<GateContext>,
): GateContext {
  return {
    files: FileRules.parse({ safe_to_write: [{ glob: "**/*", safe: true }], deny_read: [] }),
    roots: [own.root],
    rehearses: false,
    mode: "write",
    ended: () => undefined,
    isOver: () => false,
    ...own,
  };
}
