/** How a provider lets us in: with a key that lasts, or with one that is asked for anew before it ends. */
import type { ModelConfig } from "../../protocol/config.ts";
import type { RequestHeaders } from "../../protocol/providers.ts";
import type { ScreenResult } from "../../protocol/screen_requests.ts";
import { messageOf, TurnError } from "../../shared/errors.ts";
import type { Initiator } from "../log/model_request.ts";
import type { Endpoint } from "./wire/wire.ts";

/** @param refused the provider did not take the last one @throws {Error} one line */
export type RenewKey = (refused: boolean, signal: AbortSignal) => Promise<ScreenResult<"provider_key">>;

/** Before a key ends, so that no request finds it ended. Milliseconds. */
const MARGIN_MS = 120_000;
/** A short key is a local server's dummy and may be any word. */
const SHORTEST_SECRET = 8;

type Provider = ModelConfig["provider"];

export class ProviderCredentials {
  readonly #provider: Provider;
  readonly #renew: RenewKey | undefined;
  #key: Pick<Provider, "api_key" | "key_expires">;

  constructor(provider: Provider, renew: RenewKey | undefined) {
    this.#provider = provider;
    this.#renew = renew;
    this.#key = provider;
  }

  /** A key that ends is a bearer token, whatever the wire's own way with keys. */
  get endpoint(): Endpoint {
    const { base_url, headers } = this.#provider;
    const { api_key: key, key_expires: ends } = this.#key;
    const baseUrl = base_url.replace(/\/+$/, "");
    if (key === undefined) return { baseUrl, headers };
    return ends === undefined
      ? { baseUrl, headers, apiKey: key }
      : { baseUrl, headers: { ...headers, authorization: `Bearer ${key}` } };
  }

  /** What no message may show. */
  get secrets(): readonly string[] {
    const named = Object.entries(this.endpoint.headers)
      .filter(([name]) => /auth|key|token|secret|cookie/i.test(name));
    return [this.#key.api_key ?? "", ...named.map(([, value]) => value.replace(/^(?:Bearer|Basic) /i, ""))]
      .filter((secret) => secret.length >= SHORTEST_SECRET);
  }

  /** Before a request. @throws {TurnError} if the key has ended and there is no other */
  async open(signal: AbortSignal): Promise<void> {
    const { key_expires: ends } = this.#key;
    if (ends === undefined || Date.now() < ends - MARGIN_MS) return;
    // A key that still holds for a while is better than none.
    await this.#renewKey(false, signal).catch((error) => {
      if (signal.aborted || Date.now() >= ends) throw error;
    });
  }

  /** After the provider has refused the key. @returns whether there is another @throws {TurnError} why there is none */
  async reopen(signal: AbortSignal): Promise<boolean> {
    const { api_key: before, key_expires: ends } = this.#key;
    if (ends === undefined) return false;
    await this.#renewKey(true, signal);
    return this.#key.api_key !== before;
  }

  async #renewKey(refused: boolean, signal: AbortSignal): Promise<void> {
    if (this.#renew === undefined) return;
    try {
      this.#key = await this.#renew(refused, signal);
    } catch (error) {
      throw new TurnError("auth", messageOf(error));
    }
  }
}

/** Headers that say what a request is, for a provider that wants to know. */
export function requestHeaders(
  names: RequestHeaders | undefined,
  request: { readonly initiator: Initiator; readonly images: boolean },
): Readonly<Record<string, string>> {
  return {
    ...(names?.initiator === undefined ? {} : { [names.initiator]: request.initiator }),
    ...(names?.images === undefined || !request.images ? {} : { [names.images]: "true" }),
  };
}
