/**
 * Implements ACP's session modes and session config options: mode, model and effort. Source:
 * agentclientprotocol.com/protocol.
 */
import {
  type AgentApp,
  methods,
  RequestError,
  type SessionConfigOption,
  type SessionModeState,
  type SessionUpdate,
} from "../../deps/acp_sdk.ts";
import { type ListedModel } from "../../protocol/config.ts";
import { CHOOSABLE_EFFORTS } from "../../protocol/options/efforts.ts";
import { ModelMeta, ours } from "../../protocol/extensions.ts";
import { factsLine } from "../../models/model_list.ts";
import type { Choice, SessionModes } from "../agent/settings/session_modes.ts";
import { messageOf } from "../../shared/errors.ts";

/** The part of the answers to session/new and session/load about modes. */
export function modesOf(
  modes: SessionModes,
): { readonly modes: SessionModeState; readonly configOptions: SessionConfigOption[] } {
  const availableModes = modes.all.map((mode) => ({
    ...{ id: mode.name, name: nameOf(mode) },
    ...(mode.description === undefined ? {} : { description: mode.description }),
  }));
  return { modes: { currentModeId: modes.current.name, availableModes }, configOptions: optionsOf(modes) };
}

function optionsOf(modes: SessionModes): SessionConfigOption[] {
  const { current, all, models, effort } = modes;
  const select = (id: keyof Choice, name: string, category: string, currentValue: string) =>
    ({ type: "select", id, name, category, currentValue }) as const;
  const plain = (names: readonly string[]) => names.map((name) => ({ value: name, name }));
  const model = current.model ?? models[0];
  const described = (name: string) => {
    const description = factsLine(modes.factsOf(name) ?? { name });
    return { value: name, name, ...(description === "" ? {} : { description }) };
  };
  return [
    {
      ...select("mode", "Mode", "mode", current.name),
      options: all.map((mode) => ({ value: mode.name, name: nameOf(mode) })),
    },
    ...model === undefined
      ? []
      : [{ ...select("model", "Model", "model", model), options: models.map(described) }],
    {
      ...select("effort", "Effort", "thought_level", effort),
      options: plain(CHOOSABLE_EFFORTS),
    },
  ];
}

function nameOf({ name, title = name }: SessionModes["current"]): string {
  return title;
}

/**
 * Sends the provider's model list to the client; without a list the client knows the models of the options.
 */
export async function offerModels(
  modes: SessionModes,
  listing: Promise<readonly ListedModel[] | undefined>,
  to: { sendUpdate(update: SessionUpdate): void },
): Promise<void> {
  const models = await listing.catch(() => undefined);
  if (models === undefined || models.length === 0) return;
  modes.offered = models;
  to.sendUpdate({ sessionUpdate: "config_option_update", configOptions: optionsOf(modes) });
}

interface Open {
  /** @throws {RequestError} if the session is not open here */
  get(id: string): { readonly modes: SessionModes };
  tell(id: string, update: SessionUpdate): void;
  reportTools(id: string): void;
}

export function serveModes(app: AgentApp, open: Open): AgentApp {
  const { session } = methods.agent;
  const choose = (id: string, choice: Partial<Choice>, listed?: ListedModel): SessionConfigOption[] => {
    const { modes } = open.get(id);
    try {
      modes.choose(choice, listed);
    } catch (error) {
      throw RequestError.invalidParams(undefined, messageOf(error));
    }
    const { mode } = choice;
    if (mode !== undefined) open.tell(id, { sessionUpdate: "current_mode_update", currentModeId: mode });
    const configOptions = optionsOf(modes);
    open.tell(id, { sessionUpdate: "config_option_update", configOptions });
    open.reportTools(id);
    return configOptions;
  };
  return app
    .onRequest(session.setMode, ({ params }) => {
      choose(params.sessionId, { mode: params.modeId });
      return {};
    })
    .onRequest(session.setConfigOption, ({ params }) => {
      const { sessionId, configId, value } = params;
      if (
        typeof value !== "string" || (configId !== "mode" && configId !== "model" && configId !== "effort")
      ) {
        throw RequestError.invalidParams(undefined, `unknown option or value: ${configId}`);
      }
      const { listed } = ours(ModelMeta, params._meta) ?? {};
      return { configOptions: choose(sessionId, { [configId]: value }, listed) };
    });
}
