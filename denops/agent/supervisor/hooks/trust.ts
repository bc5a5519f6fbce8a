/** The hooks that the user has approved: each approval is for exactly one hook and the text of its scripts. */
import { z } from "../../deps/zod.ts";
import { entryHash, EntryTrust } from "../gate/entry_trust.ts";
import { oneLine, visible } from "../screen/visible.ts";
import type { Hook } from "./entries.ts";
import type { HookScript } from "./scripts.ts";

const Approval = z.object({ approved: z.literal(true) });

/** "changed": another text of its scripts was approved. */
export type HookTrustState = "approved" | "changed" | "unknown";

export class HookTrust {
  readonly #trust: EntryTrust<z.infer<typeof Approval>>;
  readonly #root: string;

  /** @param root real path of the project */
  constructor(stateDir: string, root: string) {
    this.#trust = new EntryTrust(stateDir, "hooks", Approval);
    this.#root = root;
  }

  /** @throws {Error} one line */
  async stateOf(hook: Hook, scripts: readonly HookScript[]): Promise<HookTrustState> {
    if (await this.#trust.of(this.#parts(hook, scripts)) !== undefined) return "approved";
    return await this.#trust.of(this.#parts(hook)) === undefined ? "unknown" : "changed";
  }

  /** @throws {Error} if it cannot be stored */
  async approve(hook: Hook, scripts: readonly HookScript[]): Promise<void> {
    await this.#trust.approve(this.#parts(hook), { approved: true });
    await this.#trust.approve(this.#parts(hook, scripts), { approved: true });
  }

  /** Names the hook in this project. @param scripts absent: whatever their text is */
  async idOf(hook: Hook, scripts: readonly HookScript[]): Promise<string> {
    return (await entryHash(this.#parts(hook, scripts))).slice(0, 32);
  }

  /** A project's file is trusted in this project alone. @param scripts absent: whatever their text is */
  #parts(hook: Hook, scripts?: readonly HookScript[]): readonly unknown[] {
    const isOfUser = hook.file === undefined || hook.file.startsWith("~/");
    const texts = scripts?.map(({ name, hash }) => [name, hash]) ?? "any";
    return ["hook", isOfUser ? "" : this.#root, hook, texts];
  }
}

/** Everything that the user approves, one line each. */
export function describeHook(hook: Hook, scripts: readonly HookScript[]): readonly string[] {
  const { command, file, timeout, rule } = hook;
  const isNotification = hook.event === "Notification";
  const lines = [
    command,
    `At ${eventText(hook)}${rule === undefined ? "" : `, if ${rule}`}, for at most ${timeout} s.`,
    `From ${file ?? "your options"}.`,
    ...scripts.map(({ name, bytes }) => `Runs ${name} (${bytes.length} bytes), as it is now.`),
    ...isNotification
      ? [
        "It runs WITHOUT a sandbox, in your home folder: it can read, change and send everything that you can.",
      ]
      : [
        "It runs in a sandbox without network: it reads the project and what the event says.",
        hook.event === "PostToolUse"
          ? "Files that it changes are kept like those of a command."
          : "Nothing that it changes is kept.",
      ],
  ];
  return lines.map((line) => visible(line).replaceAll("\n", "⏎"));
}

export function eventText({ event, matcher }: Hook): string {
  return matcher === "" || matcher === "*" ? event : `${event} of ${oneLine(matcher)}`;
}

/** A short name: that of its script, or its first words. */
export function hookName({ command }: Hook): string {
  const script = /[\w.-]+\.(?:sh|bash|py|js|mjs|cjs|ts|rb|pl|lua)\b/.exec(command)?.[0];
  const words = command.trim().split(/\s+/).slice(0, 3).join(" ");
  return oneLine(script ?? words).slice(0, 60);
}
