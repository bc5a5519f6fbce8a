/** Hooks for notifications, which have to reach the user's desktop: they run without a sandbox. */
import { isInside } from "../../policy/path.ts";
import type { UserConfig } from "../../protocol/config.ts";
import type { HookInput } from "../../protocol/results/hooks.ts";
import { commandEnvironment, trustedPath } from "../system/environment.ts";
import { findProgram } from "../system/sandbox.ts";
import { decisionOf } from "./decision.ts";
import { isOfUser } from "./entries.ts";
import { bashArguments, runHook } from "./hook_process.ts";
import { payloadOf } from "./payload.ts";
import type { HookResults, HookRun, ReadHook } from "./results.ts";
import { namesInside } from "./scripts.ts";
import { hookName } from "./trust.ts";

export type NotificationInput = Extract<HookInput, { event: "Notification" }>;

interface Desktop {
  /** Real paths of the project. */
  readonly roots: readonly string[];
  readonly user: Pick<UserConfig, "command_environment">;
  /** Neovim's own. */
  readonly environment: Readonly<Record<string, string>>;
}

/**
 * Runs a hook on the machine itself. It needs an approval in the list, which says so. Only the user's own files name
 * it, and it may neither name the project nor start there: the agent can change it.
 */
export async function notifyBy(
  read: ReadHook,
  input: NotificationInput,
  run: HookRun,
  { roots, user, environment }: Desktop,
  results: HookResults,
): Promise<void> {
  const { hook, trust } = read;
  const { HOME: home = "/" } = environment;
  if (!isOfUser(hook)) {
    const failure = `without a sandbox, only hooks of your own files run, not one of ${hook.file}`;
    return results.note({ read, decision: { failure } }, input, run);
  }
  if (await namesProject(hook.command, roots, home)) {
    const failure = "without a sandbox, it may not name the project";
    return results.note({ read, decision: { failure } }, input, run);
  }
  if (trust === "refused") return;
  if (trust !== "approved") {
    const text = `The hook ${hookName(hook)} (Notification) needs your approval: :Agent hooks.`;
    return results.noticeOnce(text, run);
  }
  const bash = await findProgram("bash", roots);
  if (bash === undefined) return;
  const env = {
    ...commandEnvironment(user.command_environment, undefined, environment),
    PATH: trustedPath(environment.PATH ?? "", roots).join(":"),
  };
  const end = await runHook(
    {
      profile: "notification_hook",
      program: bash,
      args: bashArguments(hook.command),
      env,
      cwd: home,
      timeout: hook.timeout * 1_000,
    },
    payloadOf(hook, input, { id: run.session, roots, isReadOnly: run.isReadOnly }),
    run.signal,
  );
  results.note({ read, decision: decisionOf(input.event, end, hook.cursor !== undefined) }, input, run);
}

/** Also by a part of a longer word, which may be a program's own code. */
async function namesProject(command: string, roots: readonly string[], home: string): Promise<boolean> {
  const isNamed = /PROJECT_DIR/.test(command) ||
    roots.some((root) => command.includes(root) || isInside(home, root));
  return isNamed || await namesInside(roots, command, home, home);
}
