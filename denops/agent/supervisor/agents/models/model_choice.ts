/** The provider and model that a user chose for a session, which replace those of the options. */
import * as z from "../../../deps/zod.ts";
import { ListedModel, type UserConfig } from "../../../protocol/config.ts";
import { SessionBook } from "../../gate/session_book.ts";
import { defined } from "../../../shared/records.ts";
import { detect, namesModel, type ProviderWorld } from "../provider.ts";

/**
 * `provider` undefined: that of the options; `model` undefined: the provider's default, or that of the
 * options.
 */
export const ModelChoice = z.object({
  provider: z.string().min(1).optional(),
  model: ListedModel.optional(),
  /** Another agent instead of a provider. */
  agent: z.string().min(1).optional(),
});
export type ModelChoice = z.infer<typeof ModelChoice>;

/** Only the user decides which host gets a session's messages and key. */
export class ModelBook extends SessionBook<ModelChoice> {
  constructor(stateDir: string) {
    super(stateDir, "models", ModelChoice);
  }
}

/** The options with the chosen agent, or without one. */
export function withAgent(user: UserConfig, { agent, provider }: ModelChoice): UserConfig {
  const chosen = agent ?? (provider === undefined ? user.agent : undefined);
  return chosen === user.agent ? user : { ...user, agent: chosen };
}

/** The engine's options for this choice; the same object if it is the options' own provider or agent. */
export async function chosenConfig(
  options: UserConfig,
  choice: ModelChoice,
  world: ProviderWorld,
): Promise<UserConfig> {
  const user = withAgent(options, choice);
  const { provider, model } = choice;
  if (provider === undefined || user.agent !== undefined) return user;
  const own = user.provider ?? await detect(user, world).catch(() => undefined);
  if (own === provider && (user.model !== undefined || namesModel(user, provider))) return user;
  // These belong to the provider and model of the options.
  const { model: _, summary_model: _s, explore_model: _e, context_window: _c, ...more } = user;
  const { "*": _every, ...models } = more.models;
  const name = namesModel(user, provider) ? undefined : model?.name;
  return { ...more, models, provider, ...defined({ model: name }) };
}
