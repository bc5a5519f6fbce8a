/**
 * Measures what a user feels and what their machine pays, each beside a floor from the same run, in turns with it:
 * `deno task bench [--json] [--only ROW,…]`. Linux. Numbers of one machine at one time; what counts is the ratio to
 * the floor, and the limits that the project has set itself. All rows take less than five minutes.
 *
 * Each group runs in a process of its own: no row depends on what was measured before it.
 */
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { toolEnvironment } from "../environment.ts";
import { warmUp } from "../suite/warm_up.ts";
import { acpStart } from "./acp.ts";
import { calibration } from "./calibration.ts";
import { commands, manyFiles } from "./commands.ts";
import { opening } from "./history.ts";
import { keeping } from "./keep.ts";
import { memory } from "./memory.ts";
import { longTurn, modes, round, turns, wallet } from "./rounds.ts";
import { type Group, line, origin, type Row } from "./row.ts";
import { scrolling } from "./scroll.ts";
import { searching } from "./search.ts";
import { longSession, turnEnd } from "./store.ts";
import { hugeAnswer, stopping } from "./stop.ts";
import { flood, paced, typing, young } from "./stream.ts";
import { cold, firstInstall, large, startup, typed, warm } from "./submit.ts";
import { terminal } from "./terminal.ts";

const GROUPS: readonly Group[] = [
  ...[
    calibration,
    startup,
    typed,
    cold,
    acpStart,
    large,
    firstInstall,
    warm,
    young,
    flood,
    typing,
    paced,
    terminal,
  ],
  ...[round, memory, wallet, turns, modes, longTurn],
  ...[opening, scrolling, turnEnd, searching, commands, keeping, stopping, hugeAnswer],
];
/** They take minutes more, and are measured when they are named. */
const NAMED: readonly Group[] = [longSession, manyFiles];

const NAMES = [...GROUPS, ...NAMED].flatMap(({ names }) => names);

/** Undefined for all of them. @throws {Error} one line */
function wantedRows(only: string | undefined): ReadonlySet<string> | undefined {
  if (only === undefined) return undefined;
  const wanted = only.split(",");
  const unknown = wanted.filter((name) => !NAMES.includes(name));
  if (unknown.length === 0) return new Set(wanted);
  throw new Error(`There is no row ${unknown.join(", ")}. Try ${NAMES.join(", ")}`);
}

function readArguments() {
  try {
    const options = { json: { type: "boolean", default: false }, only: { type: "string" } } as const;
    const { values } = parseArgs({ args: Deno.args, options });
    return { asJson: values.json, wanted: wantedRows(values.only) };
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    Deno.exit(2);
  }
}

/** Measures a group in a process of its own. @throws {Error} if it fails; its own message is on standard error */
async function measureApart({ names }: Group): Promise<Readonly<Record<string, Row>>> {
  const script = fileURLToPath(import.meta.url);
  const args = ["run", "-A", "--quiet", script, "--json", "--only", names.join(",")];
  const command = new Deno.Command(Deno.execPath(), { args, stdout: "piped", stderr: "inherit" });
  const { success, stdout } = await command.output();
  if (!success) throw new Error(`Cannot measure ${names.join(", ")}`);
  return JSON.parse(new TextDecoder().decode(stdout));
}

const { asJson, wanted } = readArguments();
for (const [name, value] of Object.entries(await toolEnvironment(["nvim", "git", "rg", "bwrap"]))) {
  Deno.env.set(name, value);
}

/** Nothing fills Deno's cache while a row is measured; the processes of the groups inherit it. */
const folder = Deno.env.get("AGENT_TEST_STATE") === undefined ? await Deno.makeTempDir() : undefined;
if (folder !== undefined) {
  const state = join(folder, "state");
  await warmUp(state);
  Deno.env.set("AGENT_TEST_STATE", state);
}

const found: Record<string, Row> = {};
if (!asJson) console.log(`${origin()}\n${line()}`);
const groups = wanted === undefined
  ? GROUPS
  : [...GROUPS, ...NAMED].filter(({ names }) => names.some((name) => wanted.has(name)));
for (const part of groups) {
  const rows = groups.length === 1 ? await part.measure() : await measureApart(part);
  for (const [name, measured] of Object.entries(rows)) {
    if (wanted !== undefined && !wanted.has(name)) continue;
    found[name] = measured;
    if (!asJson) console.log(line(name, measured));
  }
}
if (folder !== undefined) await Deno.remove(folder, { recursive: true });
if (asJson) console.log(JSON.stringify(found, null, 2));
Deno.exit(0);
