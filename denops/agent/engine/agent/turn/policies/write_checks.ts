/**
 * Reports language-server errors in files that a turn writes: after each write, and again before the turn ends. New
 * errors come first.
 */
import type { LspDiagnostic } from "../../../../protocol/lsp.ts";
import type { LanguageServers } from "../../../ports/editor.ts";
import type { AccessPath } from "../../../../protocol/access.ts";
import { type Workspace } from "../../../tools/files/workspace.ts";
import { diagnosticLine } from "../../../tools/lsp/show.ts";
import { plural } from "../../../../shared/text/text.ts";

/** Files to check for one call, and for one turn. */
const MOST_FILES = 30;
/** Lines of errors after a write: new ones, older ones. */
const MOST_NEW = 20;
const MOST_OLD = 5;

/** Errors of a file; undefined if the servers have not reported enough. */
type Errors = readonly LspDiagnostic[] | undefined;

/** Whether servers must have reported on the current text, or on any earlier one. */
type Enough = "current" | "known";

interface Written {
  readonly path: AccessPath;
  /** Errors before the turn's first write. */
  readonly before: Errors;
}

/** The current errors of one file. */
interface Found {
  readonly name: string;
  readonly added: readonly LspDiagnostic[];
  readonly old: readonly LspDiagnostic[];
  /** The earlier errors are known, so new ones can be distinguished. */
  readonly compared: boolean;
}

export interface Baseline {
  readonly files: readonly { readonly path: AccessPath; readonly before: Errors }[];
}

interface Report {
  /** For the model. */
  readonly text: string;
  /** For the screen: "1 new error"; empty without errors. */
  readonly summary: string;
}

export class WriteChecks {
  readonly #servers: LanguageServers;
  readonly #workspace: Workspace;
  readonly #written = new Map<string, Written>();

  constructor(servers: LanguageServers, workspace: Workspace) {
    this.#servers = servers;
    this.#workspace = workspace;
  }

  /** Call it before a call runs: it records the errors of the files. */
  async before(written: readonly AccessPath[], signal: AbortSignal): Promise<Baseline> {
    const writes = written.filter((path) => this.#workspace.mayShow(path));
    const unique = new Map(writes.map((path) => [path.path, path]));
    const files = await Promise.all(
      [...unique.values()].slice(0, MOST_FILES).map(async (path) => ({
        path,
        before: path.exists ? await this.#errors("diagnostics", "known", path, signal) : [],
      })),
    );
    return { files };
  }

  /** Call it when the call has written and the editor has the new text. Undefined if there is nothing to report. */
  async after({ files }: Baseline, signal: AbortSignal): Promise<Report | undefined> {
    const found = await Promise.all(files.map(async ({ path, before }) => {
      if (!this.#written.has(path.path)) this.#written.set(path.path, { path, before });
      return compare(path, before, await this.#errors("diagnostics_after", "current", path, signal));
    }));
    return report(found.filter((one) => one !== undefined));
  }

  /** Errors that the turn added and that remain, one a line. */
  async remaining(signal: AbortSignal): Promise<readonly string[]> {
    const found = await Promise.all(
      [...this.#written.values()].slice(0, MOST_FILES).map(async ({ path, before }) =>
        compare(path, before, await this.#errors("diagnostics", "known", path, signal))
      ),
    );
    return found.flatMap((one) =>
      one?.compared ? one.added.map((diagnostic) => diagnosticLine(one.name, diagnostic)) : []
    );
  }

  get files(): readonly string[] {
    return [...this.#written.values()].map(({ path }) => path.named);
  }

  async #errors(
    op: "diagnostics" | "diagnostics_after",
    enough: Enough,
    { path }: AccessPath,
    signal: AbortSignal,
  ): Promise<Errors> {
    const answer = await this.#servers.ask({ op, path }, signal);
    if (answer.kind !== "diagnostics" || answer.said === "unknown") return undefined;
    if (enough === "current" && answer.said !== "current") return undefined;
    return answer.files.flatMap(({ diagnostics }) => diagnostics)
      .filter(({ severity }) => severity === "error");
  }
}

/** Edits move lines, so errors with the same message are the same. */
function key({ message, source, code }: LspDiagnostic): string {
  return JSON.stringify([message, source, code]);
}

function compare(path: AccessPath, before: Errors, after: Errors): Found | undefined {
  if (after === undefined || after.length === 0) return undefined;
  const name = path.named;
  if (before === undefined) return { name, added: after, old: [], compared: false };
  const known = new Map<string, number>();
  for (const error of before) known.set(key(error), (known.get(key(error)) ?? 0) + 1);
  const added: LspDiagnostic[] = [];
  const old: LspDiagnostic[] = [];
  for (const error of after) {
    const left = known.get(key(error)) ?? 0;
    known.set(key(error), left - 1);
    (left > 0 ? old : added).push(error);
  }
  return { name, added, old, compared: true };
}

function report(found: readonly Found[]): Report | undefined {
  const lines = (pick: (one: Found) => readonly LspDiagnostic[]) =>
    found.flatMap((one) => pick(one).map((diagnostic) => diagnosticLine(one.name, diagnostic)));
  const added = lines(({ added, compared }) => compared ? added : []);
  const unknown = lines(({ added, compared }) => compared ? [] : added);
  const old = lines(({ old }) => old);
  const parts = [
    section(`you added ${plural(added.length, "error")}`, added, MOST_NEW),
    section(`${plural(unknown.length, "error")}, not known whether new`, unknown, MOST_NEW),
    section(`${plural(old.length, "error")} from before`, old, MOST_OLD),
  ].filter((part) => part !== "");
  if (parts.length === 0) return undefined;
  const summary = added.length === 0 ? "" : plural(added.length, "new error");
  return { text: `[Auto-diagnostics] ${parts.join("\n")}`, summary };
}

function section(heading: string, lines: readonly string[], most: number): string {
  if (lines.length === 0) return "";
  const more = lines.length > most ? [`[${lines.length - most} more]`] : [];
  return [`${heading}:`, ...lines.slice(0, most), ...more].join("\n");
}
