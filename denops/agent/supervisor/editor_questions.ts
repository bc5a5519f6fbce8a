/** Questions of engines that Lua answers: about buffers, and later about more. */
import type { Update } from "../protocol/ui.ts";
import { Waiting } from "./waiting.ts";

/** An editor that does not answer by then waits for a key, or is gone. */
const LONGEST_WAIT_MS = 4_000;

export type EditorQuestion =
  | { readonly method: "unsaved_text"; readonly path: string }
  | { readonly method: "write_unsaved"; readonly path: string; readonly base: string; readonly text: string };

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
      () => this.#waiting.settle(request, { error: "Neovim does not answer, it may be waiting for a key" }),
      LONGEST_WAIT_MS,
    );
    const answer = await waiting;
    clearTimeout(timer);
    if ("error" in answer) {
      throw new Error(`the editor cannot say whether it has unsaved changes: ${answer.error}`);
    }
    return answer.result;
  }

  answer(request: number, answer: Answer): void {
    this.#waiting.settle(request, answer);
  }
}
