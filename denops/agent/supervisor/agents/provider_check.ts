/** Checks whether a provider is reachable, accepts the key and has the model. Sends nothing to a model. */
import { connectionProblem } from "../../models/connection_problem.ts";
import type { Fetch, Provider } from "../../models/ask_models.ts";
import { isModel, modelsOf } from "../../models/model_list.ts";
import { PRESETS, WIRE_FACTS, wireFor } from "../../protocol/providers.ts";
import { LONGEST_NAME, oneLine } from "../screen/visible.ts";

/** For all requests together, in milliseconds. */
const LIMIT_MS = 2_000;
/** Names of models in a message. */
const SHOWN = 8;

/** `unknown`: it answers, but does not support this query. */
interface ProviderCheck {
  readonly state: "ok" | "error" | "unknown";
  /** One line, without the key. */
  readonly text: string;
}

/** Takes two seconds at most; never throws. */
export async function checkProvider(
  provider: Provider,
  model: string,
  fetch: Fetch,
): Promise<ProviderCheck> {
  const { name, base_url, headers, api_key, key_source } = provider;
  const facts = WIRE_FACTS[wireFor(provider, model)];
  const signal = AbortSignal.timeout(LIMIT_MS);
  const get = (path: string) =>
    fetch(base_url + path, {
      headers: { ...(api_key === undefined ? {} : facts.key(api_key)), ...headers },
      signal,
    });
  const refused = (status: number): ProviderCheck => ({
    state: "error",
    text: `${name} refused the key (HTTP ${status}). Check ${key_source}.`,
  });
  let reached = false;
  try {
    // A public model list does not prove that the key is valid.
    const keyPath = PRESETS[name]?.base_url === base_url ? PRESETS[name].key_check : undefined;
    const anyModel = PRESETS[name]?.any_model === true;
    for (const path of [...(keyPath === undefined ? [] : [keyPath]), facts.models]) {
      const response = await get(path);
      reached = true;
      if ([401, 403].includes(response.status)) return refused(response.status);
      if (path === keyPath) {
        await response.body?.cancel();
        continue;
      }
      if (response.ok && response.headers.get("content-type")?.startsWith("text/html")) {
        await response.body?.cancel();
        const text = `Cannot read the answer of ${base_url}: it is a web page, not an API. Check base_url.`;
        return { state: "error", text };
      }
      const models = modelsOf(await response.json().catch(() => undefined))?.map(({ name }) => name);
      if (!response.ok || models === undefined) {
        const text =
          `${name} answers (HTTP ${response.status}), but names no models: key and model are not checked.`;
        return { state: "unknown", text };
      }
      if (anyModel || models.some((one) => isModel(one, model))) break;
      // An alias may be missing from the list.
      const one = facts.model && await get(facts.model(model));
      await one?.body?.cancel();
      if (!one?.ok) return { state: "error", text: unknownModel(name, model, models, facts.install) };
    }
    return { state: "ok", text: `${name} answers, and has the model ${model}.` };
  } catch (error) {
    if (reached) {
      const text = `${name} answers, but not within ${LIMIT_MS / 1_000} s: key and model are not checked.`;
      return { state: "unknown", text };
    }
    const { reason, hint } = signal.aborted
      ? { reason: `no answer within ${LIMIT_MS / 1_000} s`, hint: "Check base_url and the network." }
      : connectionProblem(error, { keySource: key_source, proxy: provider.proxy });
    return { state: "error", text: `Cannot reach ${name} at ${base_url}: ${reason}. ${hint}` };
  }
}

function unknownModel(name: string, model: string, models: readonly string[], install?: string): string {
  if (models.length === 0) {
    const hint = install === undefined ? "" : ` Run \`${install}\`.`;
    return `${name} has no model "${model}", nor any other.${hint}`;
  }
  const more = models.length > SHOWN ? ` and ${models.length - SHOWN} more` : "";
  const names = models.slice(0, SHOWN).map((one) => oneLine(one, LONGEST_NAME)).join(", ");
  return `${name} has no model "${model}". It has ${names}${more}.`;
}
