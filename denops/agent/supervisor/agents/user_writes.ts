/** The user's requests that an engine may write for while no turn runs, such as an undo. */
import type { RequestName } from "../../protocol/requests.ts";

/** Requests that may change files of the project. */
const WRITE_REQUESTS: ReadonlySet<RequestName> = new Set<RequestName>([
  "undo",
  "redo",
  "restore",
  "review_revert",
]);

export class UserWrites {
  /** The session of each request that is not answered yet; undefined: the request concerns any session. */
  readonly #running = new Set<{ readonly sessionId: string | undefined }>();

  /** Dispose of the result when the engine has answered. */
  begin(name: RequestName, params: object): Disposable {
    const entry = { sessionId: "sessionId" in params ? String(params.sessionId) : undefined };
    if (WRITE_REQUESTS.has(name)) this.#running.add(entry);
    return { [Symbol.dispose]: () => void this.#running.delete(entry) };
  }

  /** Whether the engine may write for this session. */
  isRunning(sessionId: string): boolean {
    return [...this.#running].some((one) => one.sessionId === undefined || one.sessionId === sessionId);
  }
}
