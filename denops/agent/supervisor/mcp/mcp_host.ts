/** Starts the MCP servers of a project, after the user has approved them. */
import { hostProblem } from "../../policy/hosts.ts";
import type { UserConfig } from "../../protocol/config.ts";
import { ErrorLines, type PipeProgram } from "../pipes/pipes.ts";
import { type McpServer, type McpServers, mcpServers } from "./entries.ts";
import { hostOf } from "./http/bridge_program.ts";
import type { Unauthorized } from "./http/messages.ts";
import { McpLogins } from "./http/logins.ts";
import { type ProgramPlace, startServerProgram } from "./server_program.ts";
import { McpTrust } from "./trust.ts";

interface HostOptions extends ProgramPlace {
  /** Patterns of hosts that no server reaches. */
  deniedHosts(): readonly string[];
  readonly user: Pick<UserConfig, "state_dir" | "mcp_servers" | "approved_mcp">;
}

/** The engine names the server. */
const NOT_APPROVED = "you have not approved it. Start it with :Agent mcp";

const NOT_APPROVED_HERE = "it is not approved. Name it after --mcp, or approve it in Neovim";

/** Whether the user approves a server; undefined if the turn was stopped. */
type ConfirmServer = (server: McpServer) => Promise<boolean | undefined>;

export class McpHost {
  readonly #options: HostOptions;
  readonly #trust: McpTrust;
  readonly #logins: McpLogins;
  readonly #errors = new Map<string, ErrorLines>();
  /** By the server's name: hosts that the user has added to its entry, and others that it wanted to reach. */
  readonly #added = new Map<string, readonly string[]>();
  readonly #refusedHosts = new Map<string, Set<string>>();
  /** Servers that the user has refused, by name: they ask again when the user starts them. */
  readonly #refused = new Map<string, McpServer>();

  constructor(options: HostOptions) {
    this.#options = options;
    const [root = ""] = options.roots;
    this.#trust = new McpTrust(options.user.state_dir, root);
    this.#logins = new McpLogins(options.user.state_dir);
  }

  /** The servers as the options and the project's files name them now. */
  async servers(): Promise<McpServers> {
    const { roots, environment, user: { mcp_servers: own, state_dir: stateDir } } = this.#options;
    return await mcpServers(own, { roots, environment, stateDir });
  }

  /** The last lines of a server's error output. */
  errorsOf(name: string): ErrorLines {
    return this.#errors.getOrInsertComputed(name, () => new ErrorLines());
  }

  async isApproved(server: McpServer): Promise<boolean> {
    return await this.#trust.hostsOf(server).catch(() => undefined) !== undefined;
  }

  /**
   * Logs the user in at a server over HTTP. A new login stops the earlier one.
   * @param open shows the page for it @throws {Error} one line
   */
  async login(name: string, open: (url: string) => void): Promise<void> {
    const url = (await this.servers()).servers.get(name)?.entry.url;
    if (url === undefined) {
      throw new Error(`Cannot log in: ${name} is no MCP server with a url. See :help agent-mcp.`);
    }
    await this.#logins.login(url, open);
  }

  /** The user wants a server, also if it was refused before. */
  wanted(name: string): void {
    this.#refused.delete(name);
  }

  /** Hosts that a server wanted to reach and may not, as "name:port". */
  refusedHosts(name: string): readonly string[] {
    return [...this.#refusedHosts.get(name) ?? []];
  }

  /** The user opens one more host to a server. @throws {Error} one line */
  async allowHost(name: string, host: string): Promise<void> {
    const server = (await this.servers()).servers.get(name);
    const hosts = server === undefined ? undefined : await this.#trust.hostsOf(server);
    if (server === undefined || hosts === undefined) {
      throw new Error(`The MCP server ${name} is not approved.`);
    }
    const problem = hostProblem(host);
    if (problem !== undefined) throw new Error(`Cannot allow ${host}: it ${problem}. See :help agent-mcp.`);
    await this.#trust.approve(server, [...new Set([...hosts, host])]);
    this.#added.set(name, [...new Set([...this.#added.get(name) ?? hosts, host])]);
    this.#refusedHosts.get(name)?.delete(host);
  }

  /** @returns undefined if the user has not answered @throws {Error} one line */
  async start(name: string, confirm: ConfirmServer): Promise<PipeProgram | undefined> {
    const server = (await this.servers()).servers.get(name);
    if (server === undefined) throw new Error("it is no longer configured");
    const { approved_mcp = [] } = this.#options.user;
    const isApproved = server.file === undefined && approved_mcp.includes(name);
    const added = await this.#trust.hostsOf(server);
    if (added === undefined && !isApproved) {
      // Nobody is there to be asked.
      if (this.#options.user.approved_mcp !== undefined) throw new Error(NOT_APPROVED_HERE);
      if (!await this.#ask(server, confirm)) return undefined;
    }
    this.#added.set(name, added ?? []);
    const refused = new Set<string>();
    this.#refusedHosts.set(name, refused);
    const { url, hosts = [] } = server.entry;
    const ports = {
      hosts: () => [
        ...url === undefined ? hosts : [hostOf(url)],
        ...this.#added.get(name) ?? [],
        ...this.#options.deniedHosts().map((pattern) => `!${pattern}`),
      ],
      onRefused: (host: string) => void refused.add(host),
      token: (refusal?: Unauthorized) =>
        url === undefined ? Promise.resolve(undefined) : this.#logins.token(url, refusal),
    };
    return await startServerProgram(server.entry, this.#options, ports);
  }

  /** Approves exactly the entry that is shown. @returns false without an answer @throws {Error} one line, if the user refuses */
  async #ask(server: McpServer, confirm: ConfirmServer): Promise<boolean> {
    const { name } = server;
    if (JSON.stringify(this.#refused.get(name)) === JSON.stringify(server)) throw new Error(NOT_APPROVED);
    const answer = await confirm(server);
    if (answer === undefined) return false;
    if (!answer) {
      this.#refused.set(name, server);
      throw new Error(NOT_APPROVED);
    }
    await this.#trust.approve(server);
    return true;
  }
}
