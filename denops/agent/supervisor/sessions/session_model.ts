/** The provider, model and effort of the session behind a chat, as the user chose them. */
import type { ListedModel } from "../../protocol/config.ts";
import type { ChoosableEffort } from "../../protocol/options/efforts.ts";
import { foreignAgent } from "../../protocol/options/foreign_agents.ts";
import { PRESETS } from "../../protocol/providers.ts";
import type { Severity, Update } from "../../protocol/ui.ts";
import { messageOf } from "../../shared/errors.ts";
import type { ModelChoice } from "../agents/models/model_choice.ts";
import { withOptions } from "../agents/offers.ts";
import type { RootQuery } from "../agents/root.ts";
import type { OpenProject } from "../client/open_project.ts";
import type { OpenProjects } from "../client/open_projects.ts";

interface ModelPorts {
  push(update: Update): void;
  notice(severity: Severity, text: string): void;
  readonly projects: OpenProjects;
}

export class SessionModel {
  readonly #chat: number;
  readonly #ports: ModelPorts;
  /** Undefined unless it was chosen in this chat. */
  effort: ChoosableEffort | undefined;
  /** Undefined until the user chooses one in this chat or the session opens. */
  #choice: ModelChoice | undefined;
  /** The choice is not stored yet, because the session did not exist. */
  #isUnstored = false;
  /** The chat has shown that the chosen provider is unavailable. */
  #isReported = false;

  constructor(chat: number, ports: ModelPorts) {
    this.#chat = chat;
    this.#ports = ports;
  }

  /** Undefined if nothing was chosen. @param session the chat's, if it has one @throws {Error} one line */
  async of(session: string | undefined): Promise<ModelChoice | undefined> {
    if (this.#choice !== undefined || session === undefined) return this.#choice;
    return await this.#ports.projects.book.of(session);
  }

  /** The project for the choice; falls back to the options' provider, with a warning. @throws {Error} one line */
  async project(place: RootQuery, session: string | undefined): Promise<OpenProject> {
    const { projects, notice } = this.#ports;
    const choice = await this.of(session) ?? {};
    if (choice.provider === undefined && choice.agent === undefined) {
      return await projects.of(place, this.#chat);
    }
    try {
      return await this.projectFor(place, choice);
    } catch (error) {
      const project = await projects.of(place, this.#chat);
      this.#choice = {};
      if (!this.#isReported) {
        notice("warning", `${messageOf(error)} This session continues with the provider of your options.`);
      }
      this.#isReported = true;
      return project;
    }
  }

  /** @throws {Error} one line: why the provider is unavailable; what was started is closed again */
  async projectFor(place: RootQuery, choice: ModelChoice): Promise<OpenProject> {
    const { projects } = this.#ports;
    const project = await projects.of(place, this.#chat, choice);
    if (!("problem" in project.model)) return project;
    if (project.isChosen) await projects.drop(project);
    throw new Error(project.model.problem);
  }

  /** A model of the project's provider; undefined without a name. @throws {Error} one line */
  async find({ model, user }: OpenProject, name: string | undefined): Promise<ListedModel | undefined> {
    if (name === undefined || "problem" in model) return undefined;
    // The agent knows its models, and says so with the next turn.
    if ("agent" in model) return { name };
    return await this.#ports.projects.offers.find(model.provider, name, user);
  }

  /** @param session the chat's, if it has one @throws {Error} if the choice cannot be stored */
  async choose(choice: ModelChoice, session: string | undefined): Promise<void> {
    this.#choice = choice;
    this.#isUnstored = session === undefined;
    this.#isReported = false;
    if (session !== undefined) await this.#ports.projects.book.note(session, choice);
  }

  /** Takes a choice without storing it. */
  take(choice: ModelChoice | undefined): void {
    this.#choice = choice;
  }

  /**
   * Sets the user's model for a session that opens, regardless of its engine's memory.
   * @param current the engine's model for it @return the model that it continues with
   */
  async apply(
    { engine, model: own, user }: Pick<OpenProject, "engine" | "model" | "user">,
    { sessionId, isNew }: { readonly sessionId: string; readonly isNew: boolean },
    current: string | undefined,
  ): Promise<string | undefined> {
    if (this.effort !== undefined) await engine.setEffort(sessionId, this.effort);
    const choice = this.#choice = await this.of(isNew ? undefined : sessionId);
    if (choice === undefined) return current;
    // The options may have changed since the user chose it.
    const model = choice.model === undefined || !("provider" in own)
      ? choice.model
      : withOptions(choice.model, own.provider, user);
    if (model !== undefined || !isNew) await engine.setModel(sessionId, model);
    if (this.#isUnstored) await this.#ports.projects.book.note(sessionId, choice);
    this.#isUnstored = false;
    return model?.name;
  }

  /** Shows the provider and model of the next request. */
  report(provider: string, model: string, agent: boolean): void {
    this.#ports.push({ type: "agent_state", chat: this.#chat, provider, model, agent });
  }

  /** Shows those of a stored session before it is open. @throws {Error} one line */
  async show(session: string): Promise<void> {
    const { provider, model, agent } = await this.of(session) ?? {};
    if (agent !== undefined) {
      const row = foreignAgent(agent, this.#ports.projects.options.agents);
      this.report(agent, model?.name ?? row?.title ?? agent, true);
    } else if (provider !== undefined) {
      this.report(provider, model?.name ?? PRESETS[provider]?.default_model ?? provider, false);
    }
  }
}
