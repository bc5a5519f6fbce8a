/** A project, a gate and commands over overlays in it, without an engine and without Neovim. */
import type { RequestPermissionRequest } from "../../denops/agent/deps/acp_sdk.ts";
import { ApprovalLog } from "../../denops/agent/supervisor/gate/approval_log.ts";
import { Gate } from "../../denops/agent/supervisor/gate/gate.ts";
import { RuleBook } from "../../denops/agent/supervisor/gate/rule_book.ts";
import { Terminals } from "../../denops/agent/supervisor/commands/terminals.ts";
import { lookups } from "../../denops/agent/supervisor/system/lookups.ts";
import type { TerminalMeta } from "../../denops/agent/protocol/commands.ts";
import { FileRules } from "../../denops/agent/protocol/config.ts";
import { META, OPTION, PERMISSION_OPTIONS } from "../../denops/agent/protocol/extensions.ts";
import type { ApprovalUpdate, EffectRow } from "../../denops/agent/protocol/ui.ts";
import defaults from "../../denops/agent/policy/defaults.json" with { type: "json" };
import { commandRunner } from "./command_sandbox.ts";
import { gateContext } from "./gate.ts";
import { scratch, waitUntil } from "./project.ts";

export type UserAnswer = NonNullable<Parameters<Gate["answer"]>[1]>;

export const SESSION = "s";
const FILES = FileRules.parse(defaults);

/** A project, and commands in it that need no engine. */
export async function rehearsedProject(
  files: Readonly<Record<string, string>>,
  rules: Partial<Record<"allow" | "ask" | "deny", string[]>> = {},
) {
  const stack = new AsyncDisposableStack();
  const project = stack.use(await scratch(files));
  const state = stack.use(await scratch());
  const { sandbox } = commandRunner([project.root], state.root);
  const grant = { isMasked: true, agreed: false, byUser: false };
  const terminals = stack.use(
    new Terminals([project.root], lookups, {
      spend: () => ({ ...grant }),
      specify: (input) => sandbox.specify(input, []),
      show: () => {},
      running: () => {},
    }),
  );
  const asked: ApprovalUpdate[] = [];
  let answer: UserAnswer = { option: "allow_once" };
  let last = 0;
  const gate = new Gate((update) => {
    if (update.type !== "approval") return;
    asked.push(update);
    setTimeout(() => gate.answer(update.request, answer));
  }, () => ++last);
  const context = gateContext({
    ...{ chat: 1, root: project.root, commands: "look", rehearses: true, files: FILES },
    view: { masks: { complete: true, folders: [], files: [] }, tracked: undefined },
    rules: await RuleBook.open(state.root, project.root, { allow: [], ask: [], deny: [], ...rules }),
    log: new ApprovalLog(state.root),
    ended: (sessionId, terminal) => terminals.endedCommand(sessionId, terminal),
  });
  return {
    ...{ project, state, terminals, asked },
    agree: () => grant.agreed = true,
    /** @returns its id, when it says that it is ready */
    async start(command: string): Promise<string> {
      const meta: TerminalMeta = {
        ...{ command, cwd: project.root, timeout: 60, access: "write", background: false },
        ...{ rehearsed: true, toolCallId: "call" },
      };
      const id = await terminals.create({
        ...{ sessionId: SESSION, command: "sh", args: ["-c", command], cwd: project.root },
        _meta: { [META]: meta },
      });
      await waitUntil("the command", async () => {
        const { output, exitStatus } = await terminals.output(id);
        return output.includes("ready") || exitStatus ? id : undefined;
      });
      return id;
    },
    async run(command: string): Promise<string> {
      const id = await this.start(command);
      await terminals.waitForExit(id, new AbortController().signal);
      return id;
    },
    /** False if nothing is to be kept. */
    async ask(terminal: string, said: UserAnswer, sessionId = SESSION): Promise<boolean> {
      answer = said;
      const access = { kind: "effects", terminal } as const;
      const request: RequestPermissionRequest = {
        sessionId,
        toolCall: { toolCallId: "call", title: "run it", kind: "execute" },
        options: [...PERMISSION_OPTIONS],
        _meta: { [META]: { reason: "", force: false, access } },
      };
      const { outcome } = await gate.permission(request, context);
      return outcome.outcome === "selected" && outcome.optionId !== OPTION.reject;
    },
    /** What was shown last. */
    rows(): readonly EffectRow[] {
      const shown = asked.at(-1);
      return shown?.kind === "effects" ? shown.effects : [];
    },
    kept: (terminal: string) =>
      terminals.changes(SESSION, terminal).kept(0).changes.map(({ path }) =>
        path.slice(project.root.length + 1)
      ),
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

export const ONCE: UserAnswer = { option: "allow_once" };
