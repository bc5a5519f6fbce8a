/** Models and providers as the user chooses them: what there is, and what becomes of a choice. */
import { factsLine } from "../models/model_list.ts";
import type { Action, Severity, Update } from "../protocol/ui.ts";
import { messageOf } from "../shared/errors.ts";
import type { Chat } from "./chat.ts";
import type { ChatSession } from "./chat_session.ts";
import type { Projects } from "./projects.ts";
import { LONGEST_NAME, LONGEST_NOTICE, oneLine } from "./screen/visible.ts";

type Asked<Type extends Action["type"]> = Extract<Action, { type: Type }>;

type Push = (update: Update) => void;
type Notice = (chat: number, severity: Severity, text: string) => void;

export class ModelMenus {
  readonly #projects: Projects;
  readonly #push: Push;
  readonly #notice: Notice;

  constructor(
    projects: Projects,
    push: Push,
    notice: Notice,
  ) {
    this.#projects = projects;
    this.#push = push;
    this.#notice = notice;
  }

  /** Never rejects: why there are none is the answer. */
  async show({ request, provider: named }: Asked<"models">, session: ChatSession): Promise<void> {
    const answer = { type: "models", request } as const;
    try {
      const { project, current } = await session.model();
      const { model: of, user, roots } = project;
      const isCurrent = !("problem" in of) && (named === undefined || named === of.provider.name);
      if (named === undefined && "problem" in of) throw new Error(of.problem);
      const provider = isCurrent ? of.provider : await this.#projects.provider(named ?? "", roots);
      const models = await this.#projects.offers.models(provider, user);
      const shown = models?.map((model) => ({
        name: oneLine(model.name, LONGEST_NAME),
        text: factsLine(model),
      }));
      const problem = shown === undefined || shown.length === 0
        ? {
          problem: `${provider.name} lists no models. Name one: \`:Agent ${
            isCurrent ? "model" : `provider ${named}`
          } NAME\`.`,
        }
        : {};
      this.#push({
        ...{ ...answer, provider: provider.name, current: isCurrent ? current : "", models: shown ?? [] },
        ...problem,
      });
    } catch (error) {
      this.#push({ ...answer, provider: named ?? "", current: "", models: [], problem: said(error) });
    }
  }

  /** @throws {Error} one line */
  async showProviders(request: number, session: ChatSession): Promise<void> {
    const [providers, current] = await Promise.all([
      this.#projects.providers(),
      session.model().then(
        ({ project: { model } }) => "problem" in model ? "" : model.provider.name,
        () => "",
      ),
    ]);
    const shown = providers.map((one) => ({ ...one, text: oneLine(one.text) }));
    this.#push({ type: "providers", request, current, providers: shown });
  }

  /** The answer comes when it is done. What goes wrong is told, and the session stays as it is. */
  switchProvider({ request, chat: id, provider, model }: Asked<"provider">, chat: Chat): void {
    const answer = (end: "done" | "failed" | "model") => this.#push({ type: "provider", request, end });
    const failed = (error: unknown) => {
      this.#notice(id, "error", said(error));
      answer("failed");
    };
    try {
      if (provider !== "" && model === undefined && !this.#projects.namesModel(provider)) {
        return answer("model");
      }
    } catch (error) {
      return failed(error);
    }
    const named = provider === "" ? undefined : provider;
    const { waits, done } = chat.betweenTurns(() => chat.session.chooseProvider(named, model));
    done.then(() => answer("done"), failed);
    if (waits) {
      this.#notice(
        id,
        "info",
        `After this turn the session goes on with ${named ?? "the provider of your options"}.`,
      );
    }
  }
}

function said(error: unknown): string {
  return oneLine(messageOf(error), LONGEST_NOTICE);
}
