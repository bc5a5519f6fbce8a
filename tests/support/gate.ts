/** A gate without an engine: no command is rehearsed unless a test says so. */
import { FileRules } from "../../denops/agent/protocol/config.ts";
import type { Update } from "../../denops/agent/protocol/ui.ts";
import type { CommandView } from "../../denops/agent/supervisor/commands/command_place.ts";
import { ApprovalLog } from "../../denops/agent/supervisor/gate/approval_log.ts";
import { Gate, type GateContext } from "../../denops/agent/supervisor/gate/gate.ts";
import { RuleBook } from "../../denops/agent/supervisor/gate/rule_book.ts";
import { type Scratch, scratch } from "./project.ts";

export function gateContext(
  own:
    & Pick<GateContext, "chat" | "root" | "rules" | "log" | "commands" | "view">
    & Partial<GateContext>,
): GateContext {
  return {
    files: FileRules.parse({ safe_to_write: [{ glob: "**/*", safe: true }], deny_read: [] }),
    roots: [own.root],
    rehearses: false,
    limits: { access: "write" },
    ended: () => undefined,
    trust: { permission: "default", isTainted: false, foreign: undefined, taint: () => {} },
    isOver: () => false,
    ...own,
  };
}

export type UserRules = Parameters<typeof RuleBook.open>[2];

export const NO_RULES: UserRules = { allow: [], ask: [], deny: [] };

export interface GateSetup extends AsyncDisposable {
  readonly gate: Gate;
  readonly context: GateContext;
  readonly updates: Update[];
  readonly state: Scratch;
}

export const CLEAR: CommandView = { masks: { complete: true, folders: [], files: [] }, tracked: undefined };

export async function setUpGate(
  rules: UserRules = NO_RULES,
  view: CommandView | undefined = CLEAR,
  commands: GateContext["commands"] = "look",
): Promise<GateSetup> {
  const state = await scratch();
  const updates: Update[] = [];
  let request = 0;
  const gate = new Gate((update) => updates.push(update), () => ++request);
  const book = await RuleBook.open(state.root, "/project", rules);
  const context = gateContext({
    chat: 1,
    root: "/project",
    rules: book,
    log: new ApprovalLog(state.root),
    commands,
    view,
  });
  return { gate, context, updates, state, [Symbol.asyncDispose]: () => state[Symbol.asyncDispose]() };
}
