/** Computes a model's context window and the source of the number. Pure. */
import type { ReportedAbilities } from "./reported.ts";

/** The default without any source. */
const DEFAULT_WINDOW = 128_000;
/** In a smaller window a prompt with all tools leaves little room: context/brief.ts. */
export const SMALL_WINDOW = 16_384;

export interface Window {
  readonly tokens: number;
  /** The source: "loaded by llama.cpp". */
  readonly from: string;
}

/**
 * @param user the option `context_window`
 * @param listed tokens from the provider's model list; absent if the request sets the window
 * @param asksFor the default window, if the request sets the window
 */
export function windowOf(
  abilities: ReportedAbilities,
  user: number | undefined,
  asksFor: number | undefined,
  listed?: number,
): Window {
  const { server = "the server", most = Infinity, loaded = Infinity } = abilities;
  const wished = user === undefined ? undefined : { tokens: user, from: "limits.context_window" };
  const own = { tokens: most, from: "the model's maximum" };
  const limit = abilities.limit === undefined
    ? undefined
    : { tokens: abilities.limit, from: `reported by ${server}` };
  if (asksFor === undefined) {
    const taken = abilities.loaded === undefined
      ? undefined
      : { tokens: loaded, from: `loaded by ${server}` };
    const granted = listed === undefined
      ? { tokens: DEFAULT_WINDOW, from: "default" }
      : { tokens: listed, from: "listed by the provider" };
    return least(wished ?? taken ?? granted, own, taken, limit);
  }
  const set = abilities.set === undefined ? undefined : { tokens: abilities.set, from: `set in ${server}` };
  // Another window makes the server reload the model. Accept that only if the loaded window is too small.
  const kept = abilities.loaded !== undefined && loaded >= Math.min(SMALL_WINDOW, most)
    ? { tokens: loaded, from: `loaded by ${server}` }
    : undefined;
  return least(wished ?? set ?? kept ?? { tokens: asksFor, from: `requested from ${server}` }, own, limit);
}

function least(...windows: readonly (Window | undefined)[]): Window {
  return windows.filter((one) => one !== undefined).reduce((all, one) => one.tokens < all.tokens ? one : all);
}
