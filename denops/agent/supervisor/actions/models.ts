/** Models, providers and the account. */
import { factsLine } from "../../models/model_list.ts";
import { messageOf } from "../../shared/errors.ts";
import { defined } from "../../shared/records.ts";
import { LONGEST_NAME, LONGEST_NOTICE, oneLine } from "../screen/visible.ts";
import { agentOf, type EngineModel, namesOf } from "../agents/models/engine_model.ts";
import { agentModels } from "./agent_options.ts";
import type { ActionContext, ActionOf, Handlers } from "./action.ts";

export function modelActions(
  context: ActionContext,
): Handlers<"models" | "model" | "providers" | "provider" | "quota"> {
  const { chats, push } = context;
  return {
    models: (action) => showModels(context, action),
    model: (action) => chats.at(action).session.chooseModel(action.model),
    async providers(action) {
      const { session } = chats.at(action);
      const [providers, current] = await Promise.all([
        chats.projects.providers(),
        session.model().then(
          ({ project: { model } }) => sourceName(model),
          () => "",
        ),
      ]);
      const list = providers.map((provider) => ({ ...provider, text: oneLine(provider.text) }));
      push({ type: "providers", request: action.request, current, providers: list });
    },
    provider: (action) => chooseProvider(context, action),
    /** No line if the project cannot be opened or its provider does not report a quota. */
    async quota(action) {
      const line = await chats.at(action).session.project().then((project) => project.quota())
        .catch(() => undefined);
      push({ type: "quota", request: action.request, ...defined({ line }) });
    },
  };
}

/** The answer says why it has no models. */
async function showModels({ chats, push }: ActionContext, action: ActionOf<"models">): Promise<void> {
  const { request, provider: name } = action;
  const answer = { type: "models", request } as const;
  try {
    const { project, current } = await chats.at(action).session.model();
    const { model: own, user, roots } = project;
    const isCurrent = "provider" in own && (name === undefined || name === own.provider.name);
    if (name === undefined && "problem" in own) throw new Error(own.problem);
    const agent = agentOf(own);
    if (name === undefined && agent !== undefined) {
      const { session } = chats.at(action);
      const { models, ...used } = await agentModels(agent.title, session);
      const chosen = (await session.model()).current;
      const current = models.some((model) => model.name === chosen) ? chosen : used.current;
      return push({ ...answer, provider: agent.title, current, models });
    }
    const provider = isCurrent ? own.provider : await chats.projects.provider(name ?? "", roots);
    const models = (await chats.projects.offers.models(provider, user) ?? [])
      .map((model) => ({ name: oneLine(model.name, LONGEST_NAME), text: factsLine(model) }));
    const command = isCurrent ? "model" : `provider ${name}`;
    push({
      ...answer,
      provider: provider.name,
      current: isCurrent ? current : "",
      models,
      ...(models.length > 0
        ? {}
        : { problem: `${provider.name} lists no models. Name one: \`:Agent ${command} NAME\`.` }),
    });
  } catch (error) {
    const problem = oneLine(messageOf(error), LONGEST_NOTICE);
    push({ ...answer, provider: name ?? "", current: "", models: [], problem });
  }
}

/** Answers once the session has moved. If that fails, the chat shows why and the session stays where it is. */
async function chooseProvider(
  { chats, push, notice }: ActionContext,
  action: ActionOf<"provider">,
): Promise<void> {
  const { request, chat: id, model, agent } = action;
  const provider = action.provider === "" ? undefined : action.provider;
  const source = agent === undefined ? defined({ provider }) : { agent };
  const chat = chats.at(action);
  const answer = (end: "done" | "failed" | "model") => push({ type: "provider", request, end });
  try {
    if (
      agent === undefined && provider !== undefined && model === undefined &&
      !chats.projects.namesModel(provider)
    ) {
      return answer("model");
    }
    const { waits, done } = chat.betweenTurns(() => chat.session.chooseProvider(source, model));
    if (waits) {
      const target = agent ?? provider ?? "the provider of your options";
      notice(id, "info", `After this turn the session continues with ${target}.`);
    }
    await done;
    answer("done");
  } catch (error) {
    notice(id, "error", messageOf(error));
    answer("failed");
  }
}

/** As the menu of providers names it. */
function sourceName(model: EngineModel): string {
  const agent = agentOf(model);
  return agent === undefined ? namesOf(model)?.provider ?? "" : `agent ${agent.name}`;
}
