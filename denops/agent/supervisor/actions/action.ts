/** Handlers of actions: one for each type of protocol/actions.ts. */
import type { Action } from "../../protocol/actions.ts";
import type { Severity, Update } from "../../protocol/ui.ts";
import type { ProviderWorld } from "../agents/provider.ts";
import type { Gate } from "../gate/gate.ts";
import type { UserQuestions } from "../gate/questions.ts";
import type { EditorQuestions } from "../screen/editor_questions.ts";
import { LONGEST_NOTICE, oneLine } from "../screen/visible.ts";
import { messageOf } from "../../shared/errors.ts";
import type { Logins } from "../agents/logins.ts";
import type { Chats } from "../sessions/chats.ts";

export type ActionOf<Type extends Action["type"]> = Extract<Action, { type: Type }>;

/** If a handler rejects, its chat shows the message, one line. */
export type Handlers<Type extends Action["type"]> = {
  readonly [Name in Type]: (action: ActionOf<Name>) => void | Promise<void>;
};

export interface ActionContext {
  push(update: Update): void;
  notice(chat: number, severity: Severity, text: string): void;
  /** Neovim's environ(), undefined if Neovim does not answer; never rejects. */
  environment(): Promise<unknown>;
  readonly chats: Chats;
  readonly gate: Gate;
  readonly editor: EditorQuestions;
  readonly questions: UserQuestions;
  readonly world: ProviderWorld;
  readonly logins: Logins;
}

/** Answers an action with an `engine_answer`: the result, or one line with the reason. */
export async function answer(
  { push }: Pick<ActionContext, "push">,
  request: number,
  answering: Promise<Record<string, unknown>>,
): Promise<void> {
  try {
    push({ type: "engine_answer", request, result: await answering });
  } catch (error) {
    push({ type: "engine_answer", request, error: oneLine(messageOf(error), LONGEST_NOTICE) });
  }
}
