/** What judging a line has brought to light: its simple commands, and what matters for the line as a whole. */
import type { Fact, Language } from "./scene.ts";
import { type Judgement, type Severity, worse } from "./severity.ts";

/** One simple command of a line, wherever in it it stands. */
export interface SimpleCommand {
  /** Expanded as far as the text alone says; what is not known is the character U+FFFC. Empty for a redirection alone. */
  readonly words: readonly string[];
  /** As it stands in the line. */
  readonly text: string;
  readonly severity: Severity;
  /** Half a sentence: "deletes a folder". */
  readonly reason: string;
  readonly network: boolean;
  readonly writesFiles: boolean;
  /** Names of the variables that are set for it. */
  readonly assignments: readonly string[];
  /** The files that its redirections write. */
  readonly redirects: readonly string[];
  /** Its name does not stand in the line: no rule can allow it. */
  readonly dynamic: boolean;
  /** It only starts others, which are judged on their own: `timeout 5`, a function of the line. */
  readonly transparent: boolean;
}

/** Judging stops after so much work; a line that needs more is no line that a person could check. */
const MOST_STEPS = 4_000;

interface FileFact {
  downloaded: boolean;
  readonly texts: string[];
}

interface State {
  readonly commands: SimpleCommand[];
  readonly seen: Set<string>;
  readonly files: Map<string, FileFact>;
  readonly runs: { readonly path: string; readonly language: Language }[];
  downloads: boolean;
  decodes: boolean;
  runsUnknown: boolean;
}

function empty(): State {
  return {
    commands: [],
    seen: new Set(),
    files: new Map(),
    runs: [],
    downloads: false,
    decodes: false,
    runsUnknown: false,
  };
}

export class Findings {
  #state = empty();
  #steps = 0;
  /** False if any part could not be read as a shell reads it. */
  parsed = true;

  get commands(): readonly SimpleCommand[] {
    return this.#state.commands;
  }

  /** True while there is work left to spend; what is left undone then counts as critical. */
  spend(steps: number): boolean {
    this.#steps += steps;
    return this.#steps <= MOST_STEPS;
  }

  get exhausted(): boolean {
    return this.#steps > MOST_STEPS;
  }

  exhaust(): void {
    this.#steps = MOST_STEPS + 1;
  }

  add(command: SimpleCommand): void {
    const key = JSON.stringify([command.text, command.words, command.severity, command.redirects]);
    if (this.#state.seen.has(key)) return;
    this.#state.seen.add(key);
    this.#state.commands.push(command);
  }

  /** Something without words of its own: a redirection, an assignment, what the whole line amounts to. */
  addWordless(text: string, judgement: Judgement, more: Partial<SimpleCommand> = {}): void {
    this.add({
      words: [],
      text,
      severity: judgement.severity,
      reason: judgement.reason,
      network: judgement.network,
      writesFiles: judgement.writes,
      assignments: [],
      redirects: [],
      dynamic: false,
      transparent: false,
      ...more,
    });
  }

  note(fact: Fact): void {
    const state = this.#state;
    switch (fact.kind) {
      case "downloads":
        state.downloads = true;
        break;
      case "decodes":
        state.decodes = true;
        break;
      case "runs unknown text":
        state.runsUnknown = true;
        break;
      case "downloads to":
        this.#file(fact.path).downloaded = true;
        break;
      case "writes to":
        this.#file(fact.path).texts.push(...(fact.text === undefined ? [] : [fact.text]));
        break;
      case "runs file":
        state.runs.push({ path: fact.path, language: fact.language });
    }
  }

  /** By the last part of the name: the same file may be named in several ways. */
  #file(path: string): FileFact {
    const name = lastPart(path);
    const known = this.#state.files.get(name) ?? { downloaded: false, texts: [] };
    this.#state.files.set(name, known);
    return known;
  }

  /** Files that the line both makes and runs. */
  ownFiles(): readonly { path: string; language: Language; downloaded: boolean; texts: readonly string[] }[] {
    return this.#state.runs.flatMap(({ path, language }) => {
      const file = this.#state.files.get(lastPart(path));
      if (file === undefined) return [];
      // Written by something whose output is not known, on a line that downloads: as good as downloaded.
      const downloaded = file.downloaded || (this.#state.downloads && file.texts.length === 0);
      return [{ path, language, downloaded, texts: file.texts }];
    });
  }

  /** Text from elsewhere, run unseen: how it got there. */
  get hidden(): "downloads" | "decodes" | undefined {
    if (!this.#state.runsUnknown) return undefined;
    if (this.#state.downloads) return "downloads";
    return this.#state.decodes ? "decodes" : undefined;
  }

  /** The severity of what `judge` adds; nothing of it is kept but the work that it took. */
  suppose(judge: () => void): Severity {
    const [kept, parsed] = [this.#state, this.parsed];
    this.#state = empty();
    try {
      judge();
      return this.#state.commands.reduce<Severity>((sum, { severity }) => worse(sum, severity), "none");
    } finally {
      this.#state = kept;
      this.parsed = parsed;
    }
  }
}

function lastPart(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}
