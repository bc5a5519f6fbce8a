/** The mode of a chat's session. The user chooses it; the engine may only narrow it. */
import type { TurnLimits } from "../../protocol/modes.ts";
import type { Severity, Update } from "../../protocol/ui.ts";
import type { Engine } from "../agents/engine.ts";
import type { Modes } from "../client/modes.ts";
import type { ModeChoice } from "../gate/mode_book.ts";

interface ModePorts {
  push(update: Update): void;
  notice(severity: Severity, text: string): void;
}

export class SessionMode {
  readonly #chat: number;
  readonly #ports: ModePorts;
  /** Undefined until the user chooses one or a session opens. */
  #choice: ModeChoice | undefined;
  /** The narrower mode that the engine reported. It holds until the user chooses a mode, and is stored nowhere. */
  #narrowed: ModeChoice | undefined;

  constructor(chat: number, ports: ModePorts) {
    this.#chat = chat;
    this.#ports = ports;
  }

  get isChosen(): boolean {
    return this.#choice !== undefined;
  }

  /** The next turn's limits. @param modes undefined if no session is open */
  limits(modes: Modes | undefined): TurnLimits {
    const choice = this.#choice;
    if (modes === undefined || choice === undefined || modes.problem(choice)) return { access: "read" };
    return modes.limits(this.#narrowed ?? choice);
  }

  /** The name of the next turn's mode. @param session the chat's, if it has one */
  async current(modes: Modes, session: string | undefined): Promise<string> {
    return (this.#narrowed ?? this.#choice ?? await stored(modes, session)).mode;
  }

  /** The engine reports a mode. */
  narrow(modes: Modes, mode: string): void {
    const narrower = modes.narrower(this.#narrowed ?? this.#choice ?? modes.first, mode);
    if (narrower === undefined) return;
    this.#narrowed = narrower;
    this.report(modes);
  }

  /** The engine is gone. */
  widen(): void {
    this.#narrowed = undefined;
  }

  /** The gate applies the choice from here on, whatever the engine says. @throws {Error} one line */
  choose(modes: Modes, mode: string): ModeChoice {
    const choice = modes.choice(mode);
    const problem = modes.problem(choice);
    if (problem !== undefined) {
      throw new Error(`${problem} The modes are ${modes.all.map(({ name }) => name).join(", ")}.`);
    }
    this.#choice = choice;
    this.#narrowed = undefined;
    this.report(modes);
    return choice;
  }

  /** Puts a session that opens into the user's mode. */
  async apply(modes: Modes, engine: Engine, sessionId: string, isNew: boolean): Promise<void> {
    const { isChosen } = this;
    const choice = this.#choice = this.#valid(this.#choice ?? await stored(modes, sessionId), modes);
    if (!isNew || choice.mode !== modes.first.mode) await engine.setMode(sessionId, choice.mode);
    if (isChosen) await modes.book.note(sessionId, choice);
    this.report(modes);
  }

  /** Before a turn: a file may have changed what the mode allows. */
  async recheck(modes: Modes, engine: Engine, sessionId: string): Promise<void> {
    const choice = this.#choice ?? modes.first;
    const valid = this.#valid(choice, modes);
    if (valid === choice) return;
    this.#choice = valid;
    this.report(modes);
    await engine.setMode(sessionId, valid.mode);
  }

  /** Shows the mode of a stored session before that is open. */
  async show(modes: Modes, session: string): Promise<void> {
    if (!this.isChosen) this.report(modes, await stored(modes, session));
  }

  report(modes: Modes, { mode } = this.#narrowed ?? this.#choice ?? modes.first): void {
    const names = modes.all.map(({ name }) => name);
    const mode_has_tools = modes.hasTools(mode);
    this.#ports.push({ type: "agent_state", chat: this.#chat, mode, modes: names, mode_has_tools });
  }

  /** The choice if it is still valid, otherwise the fallback, with a warning. */
  #valid(choice: ModeChoice, modes: Modes): ModeChoice {
    const problem = modes.problem(choice);
    if (problem === undefined) return choice;
    const { fallback } = modes;
    this.#ports.notice(
      "warning",
      `${problem} This session is in mode ${fallback.mode}; :Agent mode chooses another one.`,
    );
    return fallback;
  }
}

/** The user's choice for a stored session, otherwise the options' mode. */
async function stored(modes: Modes, session: string | undefined): Promise<ModeChoice> {
  return (session === undefined ? undefined : await modes.book.of(session)) ?? modes.first;
}
