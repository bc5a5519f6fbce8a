/** Our own screen: its requests and notifications beyond ACP, see protocol/screen_requests.ts. */
import { type AgentContext, RequestError } from "../../deps/acp_sdk.ts";
import { method } from "../../protocol/extensions.ts";
import {
  type NotificationParams,
  SCREEN_REQUESTS,
  type ScreenNotification,
  type ScreenParams,
  type ScreenRequest,
  type ScreenResult,
} from "../../protocol/screen_requests.ts";

export class Screen {
  readonly #client: AgentContext;
  readonly #sessionId: string;
  readonly #offered: ReadonlySet<string>;

  /** @param offered the methods that the client supports */
  constructor(client: AgentContext, sessionId: string, offered: ReadonlySet<string>) {
    this.#client = client;
    this.#sessionId = sessionId;
    this.#offered = offered;
  }

  has(name: ScreenRequest | ScreenNotification): boolean {
    return this.#offered.has(method(name));
  }

  /** @throws {Error} with the client's message */
  async ask<Name extends ScreenRequest>(
    name: Name,
    params: ScreenParams<Name>,
    signal?: AbortSignal,
  ): Promise<ScreenResult<Name>> {
    const options = signal === undefined ? {} : { cancellationSignal: signal, stopWaitingOnCancel: true };
    try {
      const request = { sessionId: this.#sessionId, ...params };
      const answer = await this.#client.request<unknown, unknown>(method(name), request, options);
      return SCREEN_REQUESTS[name].result.parse(answer) as ScreenResult<Name>;
    } catch (error) {
      signal?.throwIfAborted();
      throw error instanceof RequestError ? new Error(error.message) : error;
    }
  }

  /** Does nothing if the client does not support it. */
  tell<Name extends ScreenNotification>(name: Name, params: NotificationParams<Name>): void {
    if (!this.has(name)) return;
    // A failed write means that the client is gone; the end of the connection is handled elsewhere.
    this.#client.notify(method(name), { sessionId: this.#sessionId, ...params }).catch(() => {});
  }
}
