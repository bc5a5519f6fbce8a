/** The names of servers' tools for models: at most 64 of the characters that every provider accepts, unique. Pure. */

/** The limit of most providers. */
const LONGEST = 64;
const HASH = 6;

interface NamedTool {
  readonly server: string;
  /** The server's own name. */
  readonly tool: string;
}

/**
 * A name for each tool, in order. It does not depend on the order: a tool whose name is unchanged keeps it, others of
 * the same name get a hash.
 */
export function namesOf(tools: readonly NamedTool[]): readonly string[] {
  const wanted = tools.map((one) => ({ ...one, name: plainName(one) }));
  const same = Map.groupBy(wanted, ({ name }) => name);
  return wanted.map(({ name, ...one }) => {
    const others = same.get(name) ?? [];
    const exact = others.filter((other) => other.name === `${other.server}__${other.tool}`);
    const [only, ...more] = exact;
    const keeps = others.length === 1 ||
      (more.length === 0 && only?.server === one.server && only.tool === one.tool);
    return keeps ? name : withHash(name, one);
  });
}

function plainName({ server, tool }: NamedTool): string {
  const plain = tool.replace(/[^A-Za-z0-9_-]+/g, "_").replace(/^_+$/, "");
  const name = `${server}__${plain === "" ? "tool" : plain}`;
  return name.length <= LONGEST ? name : withHash(name, { server, tool });
}

function withHash(name: string, { server, tool }: NamedTool): string {
  return `${name.slice(0, LONGEST - HASH - 1)}_${hash(`${server}/${tool}`)}`;
}

/** FNV-1a, twice: it needs no security, because approvals show the server's own name. */
export function hash(text: string): string {
  let one = 0x811c9dc5;
  let other = 0x9747b28c;
  for (const character of new TextEncoder().encode(text)) {
    one = Math.imul(one ^ character, 0x01000193) >>> 0;
    other = Math.imul(other ^ character, 0x85ebca6b) >>> 0;
  }
  return ((one ^ (other >>> 3)) >>> 0).toString(36).padStart(HASH, "0").slice(-HASH);
}
