/**
 * `deno task docs` writes what the help and plugin/agent.lua say that the code says, too, and the pictures of
 * doc/screens. What else stands there is written by hand, and stays.
 */
import { dirname, join } from "node:path";
import DEFAULT_FILE_RULES from "../denops/agent/policy/defaults.json" with { type: "json" };
import { MODE_FACTS } from "../denops/agent/protocol/modes.ts";
import { PRESETS } from "../denops/agent/protocol/providers.ts";
import { EXIT_DOCS, optionRows } from "../denops/agent/run/command_line.ts";
import { EVENT_DOCS } from "../denops/agent/run/events.ts";
import { type Profile, PROFILES } from "../denops/agent/supervisor/system/programs.ts";
import { HIDDEN, SHOWN } from "../denops/agent/supervisor/system/sandbox/visible_places.ts";
import { optionTypes } from "./option_types.ts";
import { PROJECT, toolEnvironment } from "./environment.ts";
import { docPictures } from "./screens/doc_screens.ts";
import {
  type Block,
  cropped,
  type HelpEntries,
  type HelpPart,
  type Table,
  withBlock,
  withEntries,
  withTable,
  wrapped,
} from "./help.ts";

/** Screens of tests/screens: the first code block after these tags of the help. */
const HELP_SCREENS: readonly (HelpPart & { readonly tag: string; readonly screen: string })[] = [
  { tag: "agent-chat", screen: "help-chat", from: "╭ Agent", windows: 2 },
  { tag: "agent-sessions", screen: "help-sessions", from: "Sessions of this project", rows: 4 },
  { tag: "agent-approvals", screen: "help-approval", from: "╭ Approval", windows: 1 },
  { tag: "agent-approval-command", screen: "help-command", from: "╭ Approval", windows: 1 },
  { tag: "agent-approval-effects", screen: "help-changes", from: "╭ Changes", windows: 1 },
];
/** What docs.lua returns. */
interface Facts {
  readonly entries: readonly HelpEntries[];
  readonly tables: readonly Table[];
  readonly maps: readonly string[];
}

/** Files of the project, by their paths in it, as they should be. */
export async function written(): Promise<ReadonlyMap<string, string>> {
  const { entries, tables, maps } = await askNeovim();
  const read = (path: string) => Deno.readTextFile(join(PROJECT, path));
  let help = await read("doc/agent.txt");
  for (const group of entries) help = withEntries(help, group);
  for (const table of [...tables, presets(), MODES, ...RUN_TABLES]) help = withTable(help, table);
  for (const block of blocks()) help = withBlock(help, block);
  const shown = async ({ screen, ...part }: HelpPart & { readonly screen: string }) =>
    cropped(await read(`tests/screens/${screen}.txt`), part);
  for (const { tag, ...part } of HELP_SCREENS) help = withBlock(help, { tag, lines: await shown(part) });
  return new Map([
    ["doc/agent.txt", help],
    ["plugin/agent.lua", withMaps(await read("plugin/agent.lua"), maps)],
    ["denops/agent/protocol/options/options.ts", await formatted(optionTypes())],
  ]);
}

async function askNeovim(): Promise<Facts> {
  const { PATH, AGENT_NVIM = "nvim" } = await toolEnvironment(["nvim"]);
  const lua = `vim.opt.runtimepath:prepend(${JSON.stringify(PROJECT)})
    io.write(vim.json.encode(dofile(${JSON.stringify(join(PROJECT, "scripts/docs.lua"))})))`;
  const command = new Deno.Command(AGENT_NVIM, {
    args: ["--clean", "--headless", "-c", `lua ${lua.replaceAll("\n", " ")}`, "-c", "quit"],
    env: PATH === undefined ? {} : { PATH },
  });
  const { stdout, stderr } = await command.output();
  const text = new TextDecoder();
  if (stdout.length === 0) throw new Error(text.decode(stderr));
  return JSON.parse(text.decode(stdout));
}

const MODES: Table = {
  tag: "agent-modes",
  head: ["mode", "what it is for"],
  rows: MODE_FACTS.map(({ name, description }) => [name, description]),
};

const RUN_TABLES: readonly Table[] = [
  { tag: "agent-run-options", head: ["option", "meaning"], rows: optionRows() },
  {
    tag: "agent-run-codes",
    head: ["code", "meaning"],
    rows: EXIT_DOCS.map(([code, doc]) => [String(code), doc]),
  },
  {
    tag: "agent-run-json",
    head: ["event", "meaning and fields"],
    rows: EVENT_DOCS.map(({ type, doc }) => [type, doc]),
    more: EVENT_DOCS.map(({ fields }) => fields.join(", ")),
  },
];

function presets(): Table {
  const all = Object.entries(PRESETS);
  return {
    tag: "agent-presets",
    head: ["name", "model", "key"],
    rows: all.map(([name, { wire, key_env, default_model, login }]) => [
      name,
      default_model ?? (login ? "Copilot's default" : wire === "ollama" ? "the first listed" : "none"),
      login ? "a login" : key_env.join(", ") || "none",
    ]),
    more: all.map(([, { wire, base_url }]) => `${wire}  ${base_url}`),
  };
}

async function formatted(typescript: string): Promise<string> {
  const command = new Deno.Command(Deno.execPath(), {
    args: ["fmt", "--quiet", "--ext", "ts", "-"],
    cwd: PROJECT,
    stdin: "piped",
    stdout: "piped",
  });
  await using process = command.spawn();
  const writer = process.stdin.getWriter();
  await writer.write(new TextEncoder().encode(typescript));
  await writer.close();
  return new TextDecoder().decode((await process.output()).stdout);
}

function blocks(): readonly Block[] {
  const places = (of: typeof SHOWN) =>
    [...Map.groupBy(of, ({ reason }) => reason)]
      .flatMap(([reason, rows]) => [`# ${reason}`, ...rows.map(({ path }) => path)]);
  const rows = DEFAULT_FILE_RULES.safe_to_write.filter(({ safe }) => !safe);
  const sensitive = Map.groupBy(
    rows.filter(({ keys }) => keys === undefined),
    ({ reason }) => reason ?? "",
  );
  const inner = (words: readonly string[]) =>
    wrapped(words.join(" "), "        ", "        ").map((line) => line.slice("    ".length));
  return [
    { tag: "agent-shell-places", lines: places(SHOWN) },
    { tag: "agent-shell-secrets", lines: places(HIDDEN) },
    { tag: "agent-programs", lines: programs() },
    {
      tag: "agent-sensitivity",
      lines: [...sensitive].flatMap(([reason, rows]) => {
        return [reason, ...inner(rows.map(({ glob }) => glob))];
      }),
    },
    {
      tag: "agent-manifests",
      lines: rows.flatMap(({ glob, keys }) => keys === undefined ? [] : [glob, ...inner(keys)]),
    },
  ];
}

function programs(): readonly string[] {
  const all: readonly (readonly [string, Profile])[] = Object.entries(PROFILES);
  return all.flatMap(([name, profile]) => {
    const rows = [
      ["reads", profile.reads],
      ["writes", profile.writes],
      ["network", profile.network],
      ["Unix sockets", profile.unixSockets ? "yes" : "no"],
      ["environment", profile.environment],
      ["no sandbox", profile.unsandboxed],
    ] as const;
    // The block is indented as a whole.
    const line = (text: string, first: string, indent: number) =>
      wrapped(text, `    ${first}`, " ".repeat(4 + indent)).map((wide) => wide.slice(4));
    return [
      ...line(profile.purpose, `${name}: `, 6),
      ...rows.flatMap(([head, text]) => line(text, `      ${head.padEnd(14)}`, 20)),
    ];
  });
}

/** plugin/agent.lua with these <Plug> maps after the operator's, which are written by hand. */
function withMaps(text: string, maps: readonly string[]): string {
  const own = /(?<=^xnoremap <silent> <Plug>\(AgentOperator\).*\n)[^]*?(?=^\]\],$)/m;
  if (!own.test(text)) {
    throw new Error("plugin/agent.lua has no maps of the operator, after which the others stand");
  }
  return text.replace(own, () => maps.map((line) => `${line}\n`).join(""));
}

if (import.meta.main) {
  const files = await written();
  const env = await toolEnvironment(["nvim", "git", "rg", "bwrap"]);
  for (const [name, value] of Object.entries(env)) Deno.env.set(name, value);
  for (const [path, text] of [...files, ...await docPictures()]) {
    const file = join(PROJECT, path);
    await Deno.mkdir(dirname(file), { recursive: true });
    const before = await Deno.readTextFile(file).catch(() => "");
    if (before === text) continue;
    await Deno.writeTextFile(file, text);
    console.log(`docs: ${path} written`);
  }
}
