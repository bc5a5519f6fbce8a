/** Starts agents from elsewhere for a project's engine, and runs their turns. */
import { join } from "node:path";
import type { UserConfig } from "../../protocol/config.ts";
import type { ScreenResult } from "../../protocol/screen_requests.ts";
import { messageOf } from "../../shared/errors.ts";
import { AgentSandbox } from "../commands/agent_sandbox.ts";
import type { CommandSandbox } from "../commands/sandbox.ts";
import type { EndedTurn } from "../commands/terminals.ts";
import { ErrorLines, type PipeProgram } from "../pipes/pipes.ts";
import { runFolder } from "../system/run_folder.ts";
import { AgentTurns } from "./agent_turns.ts";
import { conflictFolder, removeOldConflicts } from "./conflicts.ts";
import { AgentHosts, type RefusedHost } from "./hosts.ts";
import { agentRow, startAgentProgram } from "./program.ts";
import type { EditorToolPorts, PlanStep } from "./tools/editor_tools.ts";

interface AgentHostOptions {
  /** Real paths, the project first. */
  readonly roots: readonly string[];
  readonly user: Pick<UserConfig, "state_dir" | "agents" | "command_read" | "command_write" | "socket">;
  readonly sandbox: CommandSandbox;
  /** Neovim's own. */
  readonly environment: Readonly<Record<string, string>>;
  /** Globs of files that no agent reads, by any rules. */
  denied(): readonly string[];
  /** Patterns of hosts that rules allow or, with "!", deny. */
  hosts(): readonly string[];
  /**
   * The editor copies the project's files to this folder before it writes them, if they have not changed since then: in
   * milliseconds since 1970, by the file system's clock. Undefined: no longer.
   */
  spool(folder: string, since: number | undefined): void;
  /** The editor's tools for an agent of this session. */
  tools(session: string): EditorToolPorts;
}

export class AgentHost {
  /** The steps of each session's plan, as the screen shows them. */
  readonly plans = new Map<string, readonly PlanStep[]>();
  readonly #options: AgentHostOptions;
  readonly #sandbox: AgentSandbox;
  /** By pipe. */
  readonly #agents = new Map<string, AgentTurns>();
  readonly #errors = new Map<string, ErrorLines>();
  readonly #hosts = new AgentHosts();
  /** The folder for copies of each pipe's turn. */
  readonly #spools = new Map<string, string>();

  constructor(options: AgentHostOptions) {
    this.#options = options;
    const { roots, user, sandbox, environment } = options;
    this.#sandbox = new AgentSandbox({ roots, user, sandbox, environment });
  }

  /** The last lines of an agent's error output. */
  errorsOf(name: string): ErrorLines {
    return this.#errors.getOrInsertComputed(name, () => new ErrorLines());
  }

  /**
   * @param session gets the editor's tools
   * @param add takes the program and returns its pipe
   * @throws {Error} one line
   */
  async start(
    name: string,
    session: string,
    add: (program: PipeProgram) => string,
    signal: AbortSignal,
  ): Promise<string> {
    const { roots, user, environment, denied, hosts, tools } = this.#options;
    const row = agentRow(name, user);
    await using stack = new AsyncDisposableStack();
    const turnRoots = stack.use(
      await this.#sandbox.turnRoots(denied(), signal).catch((error) => {
        const reason = `agents run over overlays, and ${messageOf(error)}`;
        throw new Error(`Cannot start ${row.title}: ${reason}. See :help agent-other-turns.`);
      }),
    );
    // Most users have no such agent.
    const { ToolSocket } = await import("./tools/tool_socket.ts");
    const socket = stack.use(await ToolSocket.open(tools(session)));
    const place = {
      ...{ roots, user, environment, denied, sandbox: this.#sandbox, tools: socket.path },
      hosts: () => [...this.#hosts.allowed(name), ...hosts()],
      onRefused: (host: string) => this.#hosts.refuse(name, host),
    };
    const { program, proxy } = await startAgentProgram(row, turnRoots, place);
    const hiddenPaths = (globs: readonly string[]) => this.#sandbox.hiddenPaths(globs);
    const turns = new AgentTurns({ row, turnRoots, program, proxy, hiddenPaths });
    stack.move();
    const ended = async () => {
      await program.ended?.();
      await socket[Symbol.asyncDispose]();
      await turns[Symbol.asyncDispose]();
    };
    const pipe = add({ ...program, ended });
    this.#agents.set(pipe, turns);
    return pipe;
  }

  /** @param denied globs of files that the session's turn must not read @throws {Error} one line */
  async begin(pipe: string, session: string, denied: readonly string[]): Promise<void> {
    const { roots, user: { state_dir } } = this.#options;
    removeOldConflicts(state_dir).catch(() => {});
    const turns = this.#of(pipe);
    await this.#dropSpool(pipe);
    const spool = join(await runFolder(), `spool-${crypto.randomUUID().slice(0, 8)}`);
    await Deno.mkdir(spool, { mode: 0o700 });
    this.#spools.set(pipe, spool);
    // Before the turn can write anything.
    this.#options.spool(spool, await turns.now());
    await turns.begin(session, { roots, denied, spool, conflicts: conflictFolder(state_dir) });
  }

  /** @throws {Error} one line */
  async end(pipe: string, session: string, isComplete: boolean): Promise<ScreenResult<"agent_end">> {
    const ended = await this.#of(pipe).end(session, isComplete);
    const spool = this.#spools.get(pipe);
    if (spool !== undefined) this.#options.spool(spool, undefined);
    return ended;
  }

  /** The program is being ended; then its overlay goes too. */
  close(pipe: string): void {
    this.#agents.delete(pipe);
    this.#dropSpool(pipe).catch(() => {});
  }

  /** Hosts that agents wanted to reach and may not, the newest first. */
  get refusedHosts(): readonly RefusedHost[] {
    return this.#hosts.refused.map(({ agent, host }) => ({
      ...{ agent, host },
      title: agentRow(agent, this.#options.user).title,
    }));
  }

  /** The user opens one of these hosts to the agent, until the supervisor ends. @throws {Error} one line */
  allowHost(agent: string, host: string): void {
    this.#hosts.allow(agent, host);
  }

  isAgent(pipe: string): boolean {
    return this.#agents.has(pipe);
  }

  /** Undefined unless it is an ended turn of this session with changes. */
  ended(session: string, terminal: string): EndedTurn | undefined {
    return [...this.#agents.values()].map((turns) => turns.ended(session, terminal)).find((one) =>
      one !== undefined
    );
  }

  /** Whether a change of this file was approved. */
  keeps(session: string, path: string): boolean {
    return [...this.#agents.values()].some((turns) => turns.changes(session)?.keeps(path));
  }

  /** Whether such a link was approved. */
  keepsLink(session: string, folder: string, target: string): boolean {
    return [...this.#agents.values()].some((turns) => turns.changes(session)?.keepsLink(folder, target));
  }

  async #dropSpool(pipe: string): Promise<void> {
    const spool = this.#spools.get(pipe);
    if (spool === undefined) return;
    this.#spools.delete(pipe);
    this.#options.spool(spool, undefined);
    await Deno.remove(spool, { recursive: true });
  }

  #of(pipe: string): AgentTurns {
    const turns = this.#agents.get(pipe);
    if (turns === undefined) throw new Error("no agent runs behind this pipe");
    return turns;
  }
}
