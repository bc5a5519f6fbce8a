/** The hooks that the user has approved: each approval is for exactly one hook and the text of its scripts. */
import * as z from "../../deps/zod.ts";
import { entryHash, EntryTrust } from "../gate/entry_trust.ts";
import { oneLine, visible } from "../screen/visible.ts";
import { type Hook, isOfUser } from "./entries.ts";
import type { HookScript } from "./scripts.ts";

/** Limits of a script's text in a question. */
const MOST_LINES = 60;
const MOST_BYTES = 8_000;
/** Columns of a hook's name. */
const LONGEST_NAME = 40;

const Approval = z.object({ approved: z.boolean() });

/** "changed": another text of its scripts was approved. "refused": the user took it out of the list. */
export type HookTrustState = "approved" | "refused" | "changed" | "unknown";

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
    const exact = await this.#trust.of(this.#parts(hook, scripts));
    if (exact !== undefined) return exact.approved ? "approved" : "refused";
    return (await this.#trust.of(this.#parts(hook)))?.approved === true ? "changed" : "unknown";
  }

  /** An earlier answer is replaced. @throws {Error} if it cannot be stored */
  async decide(hook: Hook, scripts: readonly HookScript[], approved: boolean): Promise<void> {
    await this.#trust.approve(this.#parts(hook, scripts), { approved });
    await this.#trust.approve(this.#parts(hook), { approved });
  }

  /** Identifies the hook with the text of its scripts in this project. */
  async idOf(hook: Hook, scripts: readonly HookScript[]): Promise<string> {
    return (await entryHash(this.#parts(hook, scripts))).slice(0, 32);
  }

  /** A project's file is trusted in this project alone. @param scripts absent: any text of them */
  #parts(hook: Hook, scripts?: readonly HookScript[]): readonly unknown[] {
    const texts = scripts?.map(({ name, hash }) => [name, hash]) ?? "any";
    return ["hook", isOfUser(hook) ? "" : this.#root, hook, texts];
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
    ...isNotification
      ? [
        "It runs WITHOUT a sandbox, in your home folder.",
        "It can read, change and send everything that you can.",
      ]
      : [
        "It runs in a sandbox without network, and reads the project.",
        hook.event === "PostToolUse"
          ? "Files that it changes are kept like those of a command."
          : "Nothing that it changes is kept.",
        scripts.length === 0
          ? "You approve no file that it may run or load."
          : "You approve these files as shown, not others that they load:",
      ],
    ...scripts.flatMap(linesOf),
  ];
  return lines.map((line) => visible(line).replaceAll("\n", "⏎"));
}

/** The text of a script, as far as a question has room. */
function linesOf({ name, bytes }: HookScript): readonly string[] {
  const lines = new TextDecoder().decode(bytes.subarray(0, MOST_BYTES)).trimEnd().split("\n");
  const more = bytes.length > MOST_BYTES || lines.length > MOST_LINES;
  return [
    `${name}:`,
    ...lines.slice(0, MOST_LINES).map((line) => `  ${line}`),
    ...more ? [`  [${bytes.length} bytes in all]`] : [],
  ];
}

export function eventText({ event, matcher }: Hook): string {
  return matcher === "" || matcher === "*" ? event : `${event} of ${oneLine(matcher)}`;
}

/** A short name: that of its script, or the start of its command. */
export function hookName({ command }: Hook): string {
  const script = /[\w.-]+\.(?:sh|bash|py|js|mjs|cjs|ts|rb|pl|lua)\b/.exec(command)?.[0];
  return oneLine(script ?? command.trim(), LONGEST_NAME);
}
