/** The client's side of ACP for a project's engine. It exists before the engine does. */
import type { FileRules, UserConfig } from "../../protocol/config.ts";
import type { ScreenResult } from "../../protocol/screen_requests.ts";
import type { EngineEvents } from "../agents/engine.ts";
import { UserWrites } from "../agents/user_writes.ts";
import { type WorktreeOptions, Worktrees } from "../branches/worktrees.ts";
import type { Terminals } from "../commands/terminals.ts";
import type { GateContext } from "../gate/gate.ts";
import { Pipes } from "../pipes/pipes.ts";
import { Ledger } from "../gate/ledger.ts";
import { FirstFiles } from "../project/first_files.ts";
import { answers, listeners } from "./answers/answers.ts";
import { approvals } from "./answers/approvals.ts";
import { projectPrograms } from "./answers/programs.ts";
import { confirmSkill, projectSkills } from "./answers/skills.ts";
import { sessionUpdates } from "./answers/updates.ts";
import type { ClientContext, ClientPorts } from "./context.ts";
import { Composer } from "./composer.ts";
import { endHooks, notify } from "./message_hooks.ts";
import { Modes } from "./modes.ts";
import { NO_CHAT, ProjectPermissions } from "./permissions.ts";

export class EngineClient implements ClientContext {
  readonly ports: ClientPorts;
  readonly permissions: ProjectPermissions;
  readonly files = new FirstFiles();
  readonly ledger: Ledger;
  readonly modes: Modes;
  readonly composer: Composer;
  readonly terminals: Terminals;
  readonly pipes = new Pipes();
  readonly mcp: ClientContext["mcp"];
  readonly agents: ClientContext["agents"];
  readonly skills: ClientContext["skills"];
  readonly hooks: ClientContext["hooks"];
  readonly userWrites = new UserWrites();

  private constructor(permissions: ProjectPermissions, ledger: Ledger, ports: ClientPorts) {
    this.ports = ports;
    this.permissions = permissions;
    this.ledger = ledger;
    this.modes = new Modes(permissions.user, () => permissions.described(NO_CHAT));
    this.skills = projectSkills(permissions);
    permissions.sandbox.share(() => this.skills.sharedFolders);
    this.composer = new Composer(permissions, {
      tell: (chat, text) => ports.push({ type: "notice", chat, severity: "info", text }),
      skills: this.skills,
      confirm: (chat, skill) => confirmSkill(this, chat, undefined, skill),
    });
    const { terminals, mcp, agents, hooks } = projectPrograms(this);
    this.terminals = terminals;
    this.mcp = mcp;
    this.agents = agents;
    this.hooks = hooks;
  }

  static async open(roots: readonly string[], user: UserConfig, ports: ClientPorts): Promise<EngineClient> {
    const permissions = await ProjectPermissions.open(roots, user);
    return new EngineClient(permissions, await Ledger.open(user.state_dir, permissions.root), ports);
  }

  /** Detects how commands run and which files they can see, before the first command. */
  async prepare(): Promise<void> {
    await this.gateContext(NO_CHAT, undefined);
  }

  /**
   * @param isConfined whether the operating system confines the engine
   * @param key returns the provider's key. @throws {Error} one line
   */
  events(
    isConfined: boolean,
    key: (refused: boolean) => Promise<ScreenResult<"provider_key">>,
  ): EngineEvents {
    return {
      ...approvals(this),
      update: sessionUpdates(this),
      terminals: this.terminals,
      userWrites: this.userWrites,
      listeners: listeners(this),
      answers: { ...answers(this, isConfined), provider_key: (_, { refused }) => key(refused) },
    };
  }

  /** The project is closed: runs the hooks for the end of its sessions. */
  async endSessions(): Promise<void> {
    await Promise.all(this.hooks.sessions.map((session) => endHooks(this, session)));
  }

  /** The worktrees of the project, or of the project that this is a worktree of. @throws {Error} one line */
  async worktrees(): Promise<Worktrees> {
    return await Worktrees.of(this.worktreeOptions);
  }

  /** The changes of a worktree since it branched off the project. @throws {Error} one line */
  async merge(chat: number, worktree: string): ReturnType<Worktrees["merge"]> {
    return await (await this.worktrees()).merge(worktree, this.permissions.files(chat));
  }

  get worktreeOptions(): WorktreeOptions {
    const { roots, sandboxed, user } = this.permissions;
    return { roots, sandboxed, prefix: user.git_branch, stateDir: user.state_dir };
  }

  rulesOf(sessionId: string): FileRules {
    const { ownerOf, trustOf } = this.ports;
    const chat = ownerOf(sessionId) ?? NO_CHAT;
    const rules = this.permissions.files(chat);
    const { permission, foreign } = trustOf(this, chat, sessionId);
    return {
      ...rules,
      ...(permission === "ask" ? { asks_writes: true } : {}),
      ...(foreign === undefined ? {} : { asks_again: true }),
    };
  }

  async gateContext(chat: number, sessionId: string | undefined): Promise<GateContext> {
    const { root, rules, log, user, roots, sandbox } = this.permissions;
    const { gate, limitsOf, trustOf } = this.ports;
    const ends = gate.ends(chat);
    const files = this.permissions.files(chat);
    const [view, { works: rehearses }, hold] = await Promise.all([
      this.permissions.view(files),
      sandbox.rehearses(),
      sandbox.hold(),
    ]);
    return {
      chat,
      session: sessionId,
      trust: trustOf(this, chat, sessionId),
      limits: limitsOf(chat),
      isOver: () => gate.ends(chat) !== ends,
      root,
      rules,
      log,
      commands: user.commands,
      unsandboxed: this.permissions.unsandboxed,
      files,
      roots,
      view,
      rehearses,
      opensHosts: hold === "bubblewrap",
      ...this.hooks.known.has("Notification") && sessionId !== undefined
        ? { waits: (title: string) => notify(this, chat, sessionId, title) }
        : {},
      ended: (sessionId, terminal) =>
        this.terminals.endedCommand(sessionId, terminal) ?? this.agents.ended(sessionId, terminal) ??
          this.hooks.changes.ended(sessionId, terminal),
    };
  }
}
