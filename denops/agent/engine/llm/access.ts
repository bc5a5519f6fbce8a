/** The credentials of a provider: a permanent key, or one that is renewed before it expires. */
import type { ModelConfig } from "../../protocol/config.ts";
import type { RequestHeaders } from "../../protocol/providers.ts";
import type { ScreenResult } from "../../protocol/screen_requests.ts";
import { messageOf, TurnError } from "../../shared/errors.ts";
import type { Initiator } from "../log/model_request.ts";
import type { Endpoint } from "./wire/wire.ts";

/** @param refused whether the provider refused the last key @throws {Error} one line */
export type RenewKey = (refused: boolean, signal: AbortSignal) => Promise<ScreenResult<"provider_key">>;

/** A key is renewed this long before it expires. */
const MARGIN_MS = 120_000;
/** A shorter key is a local server's dummy and may be any word. */
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

  /** A key that expires is always sent as a bearer token. */
  get endpoint(): Endpoint {
    const { base_url, headers } = this.#provider;
    const { api_key: key, key_expires: ends } = this.#key;
    const baseUrl = base_url.replace(/\/+$/, "");
    if (key === undefined) return { baseUrl, headers };
    return ends === undefined
      ? { baseUrl, headers, apiKey: key }
      : { baseUrl, headers: { ...headers, authorization: `Bearer ${key}` } };
  }

  /** Texts that no message may contain. */
  get secrets(): readonly string[] {
    const headers = Object.entries(this.endpoint.headers)
      .filter(([name]) => /auth|key|token|secret|cookie/i.test(name));
    return [this.#key.api_key ?? "", ...headers.map(([, value]) => value.replace(/^(?:Bearer|Basic) /i, ""))]
      .filter((secret) => secret.length >= SHORTEST_SECRET);
  }

  /** Renews the key if it is about to expire. @throws {TurnError} if it has expired and cannot be renewed */
  async open(signal: AbortSignal): Promise<void> {
    const { key_expires: ends } = this.#key;
    if (ends === undefined || Date.now() < ends - MARGIN_MS) return;
    // Continue with the old key while it is valid.
    await this.#renewKey(false, signal).catch((error) => {
      if (signal.aborted || Date.now() >= ends) throw error;
    });
  }

  /**
   * Renews a key that the provider refused. @returns whether a new key is available @throws {TurnError} if
   * none is
   */
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

/** Headers that tell a provider the kind of request. */
export function requestHeaders(
  names: RequestHeaders | undefined,
  request: { readonly initiator: Initiator; readonly images: boolean },
): Readonly<Record<string, string>> {
  return {
    ...(names?.initiator === undefined ? {} : { [names.initiator]: request.initiator }),
    ...(names?.images === undefined || !request.images ? {} : { [names.images]: "true" }),
  };
}
