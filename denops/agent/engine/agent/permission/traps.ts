/**
 * Reverts commands' changes to files that the user's tools run automatically, and asks the user about each one, unless
 * the approval of the command named it.
 */
import type { ChangedKeys } from "../../../policy/file_access.ts";
import { changedKeys } from "../../../policy/manifest.ts";
import type { TextChange } from "../../../protocol/access.ts";
import type { SafeToWrite } from "../../../protocol/config.ts";
import type { Emit, FileChange, ToolStart } from "../../log/events.ts";
import { lineDiff } from "../../log/line_diff.ts";
import type { HeldFile, HoldBack } from "../../ports/checkpoints.ts";
import type { AskApproval } from "../../ports/approvals.ts";
import { files } from "../../tools/define.ts";
import { namesFile } from "../gather/named_files.ts";

interface TrapPorts {
  readonly emit: Emit;
  readonly ask: AskApproval;
  readonly holdBack: HoldBack;
  /** A file's name for messages; undefined outside of the project. @param path absolute */
  nameOf(path: string): string | undefined;
  /** The rule that a name matches. */
  trap(name: string, changed?: ChangedKeys): SafeToWrite | undefined;
}

/** Files that one command may ask about; further ones stay reverted. */
const MOST_ASKED = 20;
const MOST_LISTED = 10;

/** Remembered lines; commands of older ones have ended. */
const MOST_APPROVED = 500;

export class CommandTraps {
  readonly #ports: TrapPorts;
  /** Command lines that the user approved, by call. */
  readonly #approved = new Map<string, { readonly line: string; readonly cwd: string }>();

  constructor(ports: TrapPorts) {
    this.#ports = ports;
  }

  /** The user saw and approved this line. */
  approved(toolCall: string, line: string, cwd: string): void {
    this.#approved.set(toolCall, { line, cwd });
    const [oldest] = this.#approved.keys();
    if (this.#approved.size > MOST_APPROVED && oldest !== undefined) this.#approved.delete(oldest);
  }

  /** Call it after a command and at a turn's end. @returns notes for the model, one line each */
  async settle(signal: AbortSignal): Promise<readonly string[]> {
    const { emit, holdBack } = this.#ports;
    const { heldBack, left, changes } = await holdBack.take((path, call, change) =>
      this.#isHeld(path, call, change)
    );
    const report = (id: string, done: readonly FileChange[]) => {
      for (const change of done) emit({ type: "file_modified", id, change });
    };
    for (const { toolCall, change } of changes) report(toolCall, [change]);
    const lines: string[] = [];
    for (const [index, file] of heldBack.entries()) lines.push(await this.#ask(file, index, signal, report));
    for (const { path, why } of left) {
      const name = this.#label(path);
      const reason = this.#row(path)?.reason ?? "it is sensitive";
      const text = `Cannot put ${name} back, which a command changed: ${why}. Check it: ${reason}.`;
      emit({ type: "notice", severity: "warning", text });
      lines.push(`[${name} could not be put back: ${why}]`);
    }
    return lines;
  }

  /** Changes by package managers, which are only reported. */
  listed(changes: readonly FileChange[]): readonly string[] {
    const names = changes.flatMap(({ path }) => {
      const name = this.#ports.nameOf(path);
      const row = name === undefined ? undefined : this.#ports.trap(name);
      return row?.packages === true && name !== undefined ? [name] : [];
    });
    if (names.length === 0) return [];
    const more = names.length > MOST_LISTED ? ` and ${names.length - MOST_LISTED} more` : "";
    return [`[changed, and sensitive: ${names.slice(0, MOST_LISTED).join(", ")}${more}]`];
  }

  #row(path: string, changed?: ChangedKeys): SafeToWrite | undefined {
    const name = this.#ports.nameOf(path);
    return name === undefined ? undefined : this.#ports.trap(name, changed);
  }

  #isHeld(path: string, toolCall: string, change: () => TextChange | undefined): boolean {
    const row = this.#row(path, () => {
      const texts = change();
      return texts && changedKeys(path, texts);
    });
    if (row === undefined || row.packages === true) return false;
    const approved = this.#approved.get(toolCall);
    return approved === undefined ||
      !namesFile(approved.line, approved.cwd, path, (folder) => this.#row(folder) !== undefined);
  }

  #label(path: string): string {
    return this.#ports.nameOf(path) ?? path;
  }

  async #ask(
    file: HeldFile,
    index: number,
    signal: AbortSignal,
    report: (id: string, changes: readonly FileChange[]) => void,
  ): Promise<string> {
    const { emit, ask, holdBack } = this.#ports;
    const name = this.#label(file.path);
    const why = this.#row(file.path)?.reason ?? "it is sensitive";
    const verb = file.what === "deleted" ? "delete" : "write";
    if (index >= MOST_ASKED) return `[kept back: ${name}, for ${why}; too many at once to ask]`;
    const call: ToolStart = {
      id: `${file.toolCall}/${crypto.randomUUID().slice(0, 8)}`,
      title: `${verb} ${name}, as the command did`,
      kind: file.what === "deleted" ? "delete" : "edit",
      paths: [file.path],
    };
    const reason = `the command ${file.what} ${name}: ${why}`;
    const diff = file.texts === undefined
      ? undefined
      : lineDiff(file.path, file.texts.before, file.texts.after);
    emit({ type: "tool_start", call });
    emit({ type: "approval_requested", id: call.id, reason });
    const path = { path: file.path, link: file.path, relative: name, named: name, exists: true };
    const answer = await ask(
      {
        call,
        reason,
        force: false,
        access: files(["write", path]),
        ...(diff === undefined ? {} : { diff }),
      },
      signal,
    );
    const rule = "rule" in answer && answer.rule !== undefined ? answer.rule : "asked";
    emit({ type: "approval_answered", id: call.id, answer: answer.answer, rule });
    const end = (status: "completed" | "failed", summary: string, output: string) => {
      emit({
        type: "tool_done",
        id: call.id,
        status,
        summary,
        output,
        ...(diff === undefined ? {} : { diff }),
      });
      return `[${output}]`;
    };
    if (answer.answer === "cancelled" || answer.answer === "reject") {
      const because = "reason" in answer && answer.reason !== undefined ? `: ${answer.reason}` : "";
      const who = answer.answer === "reject" ? `the user did not agree${because}` : "nobody answered";
      return end("failed", "kept back", `${name} was put back to what it was, for ${why}; ${who}`);
    }
    emit({ type: "tool_running", id: call.id, rule });
    const { changes, failure } = await holdBack.place(file);
    report(call.id, changes);
    if (failure !== undefined) return end("failed", "kept back", `${name} could not be written: ${failure}`);
    return end("completed", file.what, `the user agreed that the command ${file.what} ${name}`);
  }
}
