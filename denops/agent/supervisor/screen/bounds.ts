/**
 * Limits what one turn can put on a chat's screen. No user reads more, but Neovim would have to store it.
 * Pure.
 */
import type { Update } from "../../protocol/ui.ts";

/** Blocks on the screen, changed files, and other items that Lua handles one by one. */
const MOST_ENTRIES = 20_000;
/** Calls and thoughts that have not ended: more than a turn can have. */
const MOST_OPEN = 1_000;
/** Characters of messages and thoughts; no model writes a tenth of this in a turn. */
const MOST_CHARACTERS = 20_000_000;

interface Turn {
  entries: number;
  characters: number;
  /** The kind of the last block on the screen, which further text continues. */
  last: string;
  readonly calls: Set<string>;
  readonly open: Set<string>;
  isOver: boolean;
}

/** Whether an update is accepted; the first rejected one has the reason, which follows "it". */
type Admission = "in" | "out" | { readonly why: string };

export class Bounds {
  readonly #turns = new Map<number, Turn>();

  admit(update: Update): Admission {
    if (!("chat" in update)) return "in";
    if (update.type === "turn_started" || update.type === "turn_done") {
      this.#turns.delete(update.chat);
      return "in";
    }
    const turn = this.#turns.get(update.chat) ?? newTurn();
    this.#turns.set(update.chat, turn);
    if (!count(turn, update)) return "in";
    if (turn.isOver) return "out";
    const why = excess(turn);
    turn.isOver = why !== undefined;
    return why === undefined ? "in" : { why };
  }
}

function newTurn(): Turn {
  return { entries: 0, characters: 0, last: "", calls: new Set(), open: new Set(), isOver: false };
}

/** False for updates without a limit: answers, and questions to the user. */
function count(turn: Turn, update: Extract<Update, { readonly chat: number }>): boolean {
  switch (update.type) {
    case "text":
    case "thought": {
      const key = `${update.type} ${update.message}`;
      if (turn.last !== key) turn.entries += 1;
      turn.last = key;
      if (update.type === "thought") turn.open.add(key);
      turn.characters += update.text.length;
      return true;
    }
    case "thought_done":
    case "retold":
      turn.open.delete(`thought ${update.message}`);
      return false;
    case "tool": {
      const isOpen = update.status !== "completed" && update.status !== "failed";
      if (!turn.calls.has(update.id)) {
        turn.calls.add(update.id);
        turn.entries += 1;
        turn.last = "";
        if (isOpen) turn.open.add(update.id);
      } else if (!isOpen) turn.open.delete(update.id);
      return true;
    }
    case "aside_text":
      turn.characters += update.text.length;
      return true;
    case "user":
      turn.characters += update.text.length;
      turn.entries += 1;
      turn.last = "";
      return true;
    case "agent_state":
    case "notice":
    case "plan":
    case "retry":
    case "turn_files":
    case "file_modified":
      turn.entries += 1;
      turn.last = "";
      return true;
    default:
      return false;
  }
}

function excess({ entries, characters, open }: Turn): string | undefined {
  const number = (most: number) => most.toLocaleString("en");
  if (open.size > MOST_OPEN) return `had more than ${number(MOST_OPEN)} calls and thoughts open`;
  if (entries > MOST_ENTRIES) return `sent more than ${number(MOST_ENTRIES)} entries in one turn`;
  return characters > MOST_CHARACTERS
    ? `sent more than ${number(MOST_CHARACTERS)} characters in one turn`
    : undefined;
}
