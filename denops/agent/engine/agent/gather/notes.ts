/** Takes a session's notes from its events, and stores them once a turn. */
import { nameInRoots } from "../../../policy/roots.ts";
import {
  definitionNote,
  isDefinitionIn,
  LONGEST_NOTE,
  type Note,
  preferencesIn,
  superfluous,
} from "../../context/notes.ts";
import type { AgentEvent, FileChange, SymbolDefinition, ToolStart } from "../../log/events.ts";

export class Notes {
  readonly #kept: Map<string, Note>;
  readonly #roots: readonly string[];
  readonly #open = new Map<string, ToolStart>();
  readonly #new = new Map<string, Note>();

  /** @param kept notes by text */
  constructor(kept: Map<string, Note>, roots: readonly string[]) {
    this.#kept = kept;
    this.#roots = roots;
  }

  /** Ignores sub-agents, which have their own sessions, except for their changes. */
  hear(event: AgentEvent): void {
    if (event.type === "file_modified") this.#forgetGone(event.change);
    if (event.parent !== undefined) return;
    switch (event.type) {
      case "user_message":
        if (event.origin !== "engine") preferencesIn(event.parts).forEach((text) => this.#note("said", text));
        break;
      case "steered":
        preferencesIn([{ type: "text", text: event.text }]).forEach((text) => this.#note("said", text));
        break;
      case "tool_start":
        this.#open.set(event.call.id, event.call);
        break;
      case "approval_answered": {
        const call = this.#open.get(event.id);
        if (call !== undefined) this.#open.set(event.id, { ...call, title: event.title ?? call.title });
        break;
      }
      case "tool_done": {
        const call = this.#open.get(event.id);
        this.#open.delete(event.id);
        if (call === undefined || event.stopped === true) break;
        if (event.status === "failed") this.#note("failed", `${call.title}: ${event.summary}`);
        else this.#files(call);
        this.#definitions(event.definitions ?? [], event.id);
        break;
      }
      case "turn_done":
      case "turn_failed":
        this.#keep();
    }
  }

  #files({ kind, paths }: ToolStart): void {
    const writes = kind === "edit" || kind === "delete" || kind === "move";
    if (!writes && kind !== "read") return;
    for (const path of paths) {
      const name = nameInRoots(path, this.#roots);
      if (name !== undefined && name !== "") this.#note(writes ? "written" : "read", name);
    }
  }

  #definitions(found: readonly SymbolDefinition[], call: string): void {
    const noted = found.flatMap(({ name, path, line }) => {
      const file = nameInRoots(path, this.#roots);
      return file === undefined ? [] : [{ name, file, text: definitionNote(name, file, line) }];
    }).filter(({ text }) => text.length <= LONGEST_NOTE);
    // They may have had other lines before.
    for (const { name, file } of noted) this.#forgetDefinitions(file, name);
    for (const { text } of noted) this.#new.set(text, { kind: "definition", at: Date.now(), call });
  }

  #forgetGone({ kind, path, from }: FileChange): void {
    const gone = kind === "deleted" ? path : from;
    const file = gone === undefined ? undefined : nameInRoots(gone, this.#roots);
    if (file !== undefined) this.#forgetDefinitions(file);
  }

  #forgetDefinitions(file: string, name?: string): void {
    for (const notes of [this.#new, this.#kept]) {
      for (const [text, note] of [...notes]) if (isDefinitionIn(text, note, file, name)) notes.delete(text);
    }
  }

  #note(kind: Note["kind"], text: string): void {
    const short = text.replace(/\s+/g, " ").slice(0, LONGEST_NOTE);
    const known = this.#new.get(short) ?? this.#kept.get(short);
    // A written file stays "written" when it is read later.
    this.#new.set(short, { kind: known?.kind === "written" ? "written" : kind, at: Date.now() });
  }

  #keep(): void {
    for (const [text, note] of this.#new) this.#kept.set(text, note);
    this.#new.clear();
    this.#open.clear();
    for (const text of superfluous(this.#kept)) this.#kept.delete(text);
  }
}
