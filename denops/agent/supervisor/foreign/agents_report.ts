/** Other agents in `:checkhealth agent`. None of their programs is run for it. */
import { dirname, join } from "node:path";
import { isInside } from "../../policy/path.ts";
import type { UserConfig } from "../../protocol/config.ts";
import type { AgentsReport } from "../../protocol/health_report.ts";
import { type ForeignAgent, foreignAgent, foreignAgentNames } from "../../protocol/options/foreign_agents.ts";
import { messageOf } from "../../shared/errors.ts";
import { findProgram } from "../system/sandbox.ts";
import { usedConfig } from "./config_folders.ts";
import { agentProgram, agentRow } from "./program.ts";

interface ReportPlace {
  /** Real paths. */
  readonly roots: readonly string[];
  env(name: string): string | undefined;
}

export async function agentsReport(
  user: Pick<UserConfig, "agent" | "agents">,
  place: ReportPlace,
): Promise<AgentsReport> {
  const known: { name: string; text: string; ready: boolean }[] = [];
  const absent: string[] = [];
  const chosen = user.agent === undefined ? [] : [user.agent];
  for (const name of new Set([...chosen, ...foreignAgentNames(user.agents)])) {
    const isConfigured = user.agents[name] !== undefined || user.agent === name;
    const row = foreignAgent(name, user.agents);
    if (!isConfigured && await findProgram(row?.cmd[0] ?? "", place.roots) === undefined) absent.push(name);
    else known.push({ name, ...await agentReport(name, user, place) });
  }
  return { known, absent };
}

/** One line of facts, or the reason why it does not start. */
async function agentReport(
  name: string,
  user: Pick<UserConfig, "agents">,
  place: ReportPlace,
): Promise<{ readonly text: string; readonly ready: boolean }> {
  try {
    const row = agentRow(name, user);
    const path = await agentProgram(row, place.roots);
    const version = await packageVersion(path, place.roots);
    const login = await loginOf(row, place);
    const parts = [
      `${path}${version === undefined ? "" : `, version ${version}`}`,
      ...row.asking_mode === undefined ? [] : [`asks in its mode "${row.asking_mode}"`],
      login.text,
      row.hosts.length === 0 ? "reaches no host" : `reaches ${row.hosts.join(", ")}`,
    ];
    const facts = parts.filter((part) => part !== "").join("; ");
    const isNamed = row.title.toLowerCase() === name.toLowerCase();
    return { text: isNamed ? facts : `${row.title}: ${facts}`, ready: login.found };
  } catch (error) {
    return { text: messageOf(error), ready: false };
  }
}

async function loginOf(
  row: ForeignAgent,
  { env }: ReportPlace,
): Promise<{ readonly text: string; readonly found: boolean }> {
  const key = row.env.find((name) => /_(API_KEY|TOKEN)$/.test(name) && env(name));
  if (key !== undefined) return { text: `gets ${key}`, found: true };
  const used = await usedConfig(row, env("HOME") ?? "/");
  if (used.length > 0) return { text: `has files in ${used.join(", ")}`, found: true };
  if (row.login === undefined) return { text: "", found: true };
  return { text: `no login found: run ${row.login.join(" ")} in a terminal`, found: false };
}

const DEEPEST = 6;

/** The version in the `package.json` of the package that the program belongs to, if it is one of npm. */
async function packageVersion(path: string, roots: readonly string[]): Promise<string | undefined> {
  let folder = dirname(await Deno.realPath(path));
  for (let depth = 0; depth < DEEPEST && !roots.some((root) => isInside(folder, root)); depth++) {
    const text = await Deno.readTextFile(join(folder, "package.json")).catch(() => undefined);
    const version = text === undefined ? undefined : /"version":\s*"([\w.+-]{1,50})"/.exec(text)?.[1];
    if (version !== undefined) return version;
    folder = dirname(folder);
  }
  return undefined;
}
