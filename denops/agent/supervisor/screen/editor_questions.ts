/** Questions of engines that Lua answers: about buffers, and to language servers. */
import { basename } from "node:path";
import { SCREEN_REQUESTS, type ScreenResult } from "../../protocol/screen_requests.ts";
import type { Action } from "../../protocol/actions.ts";
import { EditorView } from "../../protocol/surroundings.ts";
import type { EditorQuestion, Update } from "../../protocol/ui.ts";
import { defined } from "../../shared/records.ts";
import { Waiting } from "./waiting.ts";

/**
 * Without an answer in this time, Neovim waits for a key, or has exited. A language server may have to start
 * first.
 */
const LONGEST_WAIT_MS = {
  unsaved_text: 4_000,
  write_unsaved: 4_000,
  written_since: 4_000,
  editor_view: 4_000,
  lsp: 30_000,
} as const;

/** Of an editor that formats, or asks the user: more than its client waits for it. */
const SLOW_WRITE_MS = 75_000;

const CANNOT = {
  unsaved_text: "the editor cannot say whether it has unsaved changes",
  write_unsaved: "the editor did not take the text",
  written_since: "the editor cannot say what it has written",
  editor_view: "the editor cannot say what it shows",
  lsp: "the editor cannot ask its language servers",
} as const;

type EditorState = Extract<Action, { type: "editor_state" }>;
type Answer = { readonly result: unknown } | { readonly error: string };

export class EditorQuestions {
  readonly #push: (update: Update) => void;
  readonly #nextRequest: () => number;
  /** Otherwise a client answers, which knows of files only. */
  readonly isNeovim: boolean;
  readonly #waiting = new Waiting<Answer>();
  #open: ReadonlySet<string> | undefined;
  #hasSlowWrites = false;
  /** Whether a language server runs. */
  hasServers = true;

  constructor(push: (update: Update) => void, nextRequest: () => number, isNeovim = true) {
    this.isNeovim = isNeovim;
    this.#push = push;
    this.#nextRequest = nextRequest;
  }

  /** Until it is set, Neovim is asked about everything. */
  set state({ files, servers, slow_writes = false }: EditorState) {
    this.#open = files && new Set(files.map(folded));
    this.hasServers = servers;
    this.#hasSlowWrites = slow_writes;
  }

  /**
   * Lua's answer, unchecked.
   * @param session whose engine asks
   * @throws {Error} one line if it fails or times out
   */
  async ask(question: EditorQuestion, session?: string): Promise<unknown> {
    const known = this.#known(question);
    if (known !== undefined) return known;
    const request = this.#nextRequest();
    const waiting = this.#waiting.add(request, "editor");
    this.#push({ type: "ask_editor", request, ...question, ...defined({ session }) });
    const isSlow = question.method === "write_unsaved" && this.#hasSlowWrites;
    const timer = setTimeout(
      () => this.#waiting.settle(request, { error: "Neovim does not answer; it may be waiting for a key" }),
      isSlow ? SLOW_WRITE_MS : LONGEST_WAIT_MS[question.method],
    );
    const answer = await waiting;
    clearTimeout(timer);
    if ("error" in answer) {
      throw new Error(`${CANNOT[question.method]}: ${answer.error}`);
    }
    return answer.result;
  }

  /** @throws {Error} as {@link ask} */
  async unsavedText(path: string, session?: string): Promise<ScreenResult<"unsaved_text">> {
    const answer = await this.ask({ method: "unsaved_text", params: { path } }, session);
    return SCREEN_REQUESTS.unsaved_text.result.parse(answer);
  }

  /** @param roots the answer is about files in these folders @throws {Error} as {@link ask} */
  async view(roots: readonly string[], session: string): Promise<EditorView> {
    return EditorView.parse(await this.ask({ method: "editor_view", params: { roots } }, session));
  }

  /**
   * Neovim's answer if it is known; undefined if Neovim must be asked. A buffer of another file may have the
   * same name.
   */
  #known({ method, params }: EditorQuestion): unknown {
    if (method !== "unsaved_text" && method !== "write_unsaved") return undefined;
    if (this.mayBeOpen(params.path)) return undefined;
    return method === "unsaved_text" ? {} : { status: "not_open" };
  }

  mayBeOpen(path: string): boolean {
    return this.#open?.has(folded(basename(path))) ?? true;
  }

  answer(request: number, answer: Answer): void {
    this.#waiting.settle(request, answer);
  }
}

/** Some file systems ignore case, and some compose characters. */
function folded(name: string): string {
  return name.normalize("NFC").toLowerCase();
}
