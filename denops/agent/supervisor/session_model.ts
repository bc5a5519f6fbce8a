/** With which provider and model the session behind a chat goes on, by what the user has chosen. */
import { PRESETS } from "../protocol/providers.ts";
import type { Severity, Update } from "../protocol/ui.ts";
import { messageOf } from "../shared/errors.ts";
import type { ModelChoice } from "./agents/model_choice.ts";
import { withOptions } from "./agents/offers.ts";
import type { RootQuery } from "./agents/root.ts";
import type { Project } from "./project.ts";
import type { Projects } from "./projects.ts";

interface Ports {
  push(update: Update): void;
  notice(severity: Severity, text: string): void;
  readonly projects: Projects;
}

export class SessionModel {
  readonly #chat: number;
  readonly #ports: Ports;
  /** Undefined: nothing was chosen in this chat, and its session is not open. */
  #choice: ModelChoice | undefined;
  /** It is not kept for the session, which there was none of. */
  #isNew = false;
  /** Why the choice cannot be had was told. */
  #isTold = false;

  constructor(chat: number, ports: Ports) {
    this.#chat = chat;
    this.#ports = ports;
  }

  /** Undefined: nothing was chosen. @param session the chat's, if it has one @throws {Error} one line */
  async of(session: string | undefined): Promise<ModelChoice | undefined> {
    if (this.#choice !== undefined || session === undefined) return this.#choice;
    return await this.#ports.projects.book.of(session);
  }

  /** The project for it; where its provider is not set up that of the options, which is told. @throws {Error} one line */
  async project(place: RootQuery, session: string | undefined): Promise<Project> {
    const { projects, notice } = this.#ports;
    const choice = await this.of(session) ?? {};
    if (choice.provider === undefined) return await projects.of(place, this.#chat);
    try {
      return await this.projectOf(place, choice);
    } catch (error) {
      const project = await projects.of(place, this.#chat);
      this.#choice = {};
      const said = messageOf(error);
      if (!this.#isTold) notice("warning", `${said} This session goes on with the provider of your options.`);
      this.#isTold = true;
      return project;
    }
  }

  /** @throws {Error} one line: why its provider cannot be asked; nothing is left of what was begun */
  async projectOf(place: RootQuery, choice: ModelChoice): Promise<Project> {
    const { projects } = this.#ports;
    const project = await projects.of(place, this.#chat, choice);
    if (!("problem" in project.model)) return project;
    if (project.isChosen) await projects.drop(project);
    throw new Error(project.model.problem);
  }

  /** @param session the chat's, if it has one @throws {Error} if it cannot be kept */
  async choose(choice: ModelChoice, session: string | undefined): Promise<void> {
    this.#choice = choice;
    this.#isNew = session === undefined;
    this.#isTold = false;
    if (session !== undefined) await this.#ports.projects.book.note(session, choice);
  }

  /** For the moment; it is not kept. */
  take(choice: ModelChoice | undefined): void {
    this.#choice = choice;
  }

  /**
   * The session is told the model that the user has chosen, whatever its engine remembers.
   * @param current the model that the engine would go on with @return the one that it goes on with
   */
  async settle(
    { engine, model: of, user }: Pick<Project, "engine" | "model" | "user">,
    { sessionId, isNew }: { readonly sessionId: string; readonly isNew: boolean },
    current: string | undefined,
  ): Promise<string | undefined> {
    const choice = this.#choice = await this.of(isNew ? undefined : sessionId);
    if (choice === undefined) return current;
    // The options may have changed since it was chosen.
    const model = choice.model === undefined || "problem" in of
      ? choice.model
      : withOptions(choice.model, of.provider, user);
    if (model !== undefined || !isNew) await engine.setModel(sessionId, model);
    if (this.#isNew) await this.#ports.projects.book.note(sessionId, choice);
    this.#isNew = false;
    return model?.name;
  }

  /** What the next request goes to. */
  tell(provider: string, model: string): void {
    this.#ports.push({ type: "agent_state", chat: this.#chat, provider, model });
  }

  /** Of a stored session, before it is gone on with. @throws {Error} one line */
  async show(session: string): Promise<void> {
    const { provider, model } = await this.of(session) ?? {};
    if (provider !== undefined) {
      this.tell(provider, model?.name ?? PRESETS[provider]?.default_model ?? provider);
    }
  }
}
