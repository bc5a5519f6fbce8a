/** Questions of engines that Lua answers: about buffers, and to language servers. */
import type { EditorQuestion, Update } from "../../protocol/ui.ts";
import { Waiting } from "./waiting.ts";

/** An editor that does not answer by then waits for a key, or is gone. A language server may have to start first. */
const LONGEST_WAIT_MS = { unsaved_text: 4_000, write_unsaved: 4_000, lsp: 30_000 } as const;

const CANNOT = {
  unsaved_text: "the editor cannot say whether it has unsaved changes",
  write_unsaved: "the editor cannot say whether it has unsaved changes",
  lsp: "the editor cannot ask its language servers",
} as const;

type Answer = { readonly result: unknown } | { readonly error: string };

export class EditorQuestions {
  readonly #push: (update: Update) => void;
  readonly #nextRequest: () => number;
  readonly #waiting = new Waiting<Answer>();

  constructor(push: (update: Update) => void, nextRequest: () => number) {
    this.#push = push;
    this.#nextRequest = nextRequest;
  }

  /** Lua's answer, unchecked. @throws {Error} one line if it fails or does not come */
  async ask(question: EditorQuestion): Promise<unknown> {
    const request = this.#nextRequest();
    const waiting = this.#waiting.add(request, "editor");
    this.#push({ type: "ask_editor", request, ...question });
    const timer = setTimeout(
      () => this.#waiting.settle(request, { error: "Neovim does not answer; it may be waiting for a key" }),
      LONGEST_WAIT_MS[question.method],
    );
    const answer = await waiting;
    clearTimeout(timer);
    if ("error" in answer) {
      throw new Error(`${CANNOT[question.method]}: ${answer.error}`);
    }
    return answer.result;
  }

  answer(request: number, answer: Answer): void {
    this.#waiting.settle(request, answer);
  }
}
