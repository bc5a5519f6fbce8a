/** The MCP servers that the user has approved: each approval is for exactly one entry. */
import * as z from "../../deps/zod.ts";
import { visible } from "../screen/visible.ts";
import { EntryTrust } from "../gate/entry_trust.ts";
import type { McpServer } from "./entries.ts";
import { variablesOf } from "./templates.ts";

const Approval = z.object({
  /** Hosts that the user has allowed in addition to the entry's. */
  hosts: z.array(z.string()),
});

export class McpTrust {
  readonly #trust: EntryTrust<z.infer<typeof Approval>>;
  readonly #root: string;

  /** @param root real path of the project */
  constructor(stateDir: string, root: string) {
    this.#trust = new EntryTrust(stateDir, "mcp", Approval);
    this.#root = root;
  }

  /** The hosts that the user has added; undefined: this entry is not approved. @throws {Error} one line */
  async hostsOf(server: McpServer): Promise<readonly string[] | undefined> {
    return (await this.#trust.of(this.#parts(server)))?.hosts;
  }

  /** @throws {Error} if it cannot be stored */
  async approve(server: McpServer, hosts: readonly string[] = []): Promise<void> {
    await this.#trust.approve(this.#parts(server), { hosts: [...hosts] });
  }

  /** The whole entry. A project's file is trusted in this project alone. */
  #parts({ name, entry, file }: McpServer): readonly unknown[] {
    return [name, ...file === undefined ? [] : [this.#root, file], entry];
  }
}

/** Everything that the user approves, one line each. */
export function describeServer({ entry, file }: McpServer): readonly string[] {
  const { cmd = [], url, hosts = [], cache, sandbox, env = {}, headers = {} } = entry;
  const variables = variablesOf(entry);
  const values = Array.isArray(env) ? [] : Object.entries(env);
  const isFree = sandbox === false && url === undefined;
  const gets = file === undefined ? "It gets your variables" : "IT GETS YOUR VARIABLES";
  const lines = [
    url ?? cmd.map(word).join(" "),
    `From ${file ?? "your options"}.`,
    ...variables.length === 0 ? [] : [`${gets} ${variables.join(", ")}.`],
    ...isFree
      ? [
        "It runs WITHOUT a sandbox: it can read, change and send everything that you can.",
        "It may run files of this project.",
      ]
      : url === undefined
      ? [
        "It runs in a sandbox: it reads the project and writes nothing there.",
        hosts.length === 0 ? "It has no network." : `It reaches ${hosts.join(", ")} only.`,
        ...cache === undefined ? [] : [`It reads and writes ${cache}.`],
      ]
      : ["It gets the arguments of its tools over the network."],
    ...[...values, ...Object.entries(headers)].map(([name, value]) => `${name}=${value}`),
  ];
  return lines.map((line) => visible(line).replaceAll("\n", "⏎"));
}

/** A word of a command line as a shell would need it. */
function word(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
