/** The supervisor's part of `:checkhealth agent`. */
import { fileRules, hiddenFiles, patternProblems, validPatterns } from "../../policy/rules.ts";
import type { UserConfig } from "../../protocol/config.ts";
import { OptionsError } from "../../protocol/options/problems.ts";
import type { CommandsReport, HealthReport } from "../../protocol/health_report.ts";
import { messageOf } from "../../shared/errors.ts";
import { defined } from "../../shared/records.ts";
import { type Launch, launchCommand } from "../agents/launch.ts";
import { Offers } from "../agents/offers.ts";
import { agentOf, engineModel } from "../agents/models/engine_model.ts";
import { findRoot, otherRoots, type RootQuery } from "../agents/root.ts";
import { checkProvider } from "../agents/provider_check.ts";
import { RuleBook } from "../gate/rule_book.ts";
import { NO_CHAT } from "../client/permissions.ts";
import { agentsReport } from "../foreign/agents_report.ts";
import { PROFILES } from "../system/programs.ts";
import { ensureStateFolder } from "../system/project_state.ts";
import { CommandSandbox } from "../commands/sandbox.ts";
import { filesReport } from "./health_files.ts";
import { programVersion } from "./program_version.ts";

type SourceModel = Awaited<ReturnType<typeof engineModel>>;

export async function healthReport(
  config: UserConfig | OptionsError,
  place: RootQuery,
  world: Parameters<typeof engineModel>[1],
  engines: readonly string[],
): Promise<HealthReport> {
  const problems: string[] = [];
  const note = (error: unknown): undefined => {
    problems.push(messageOf(error));
    return undefined;
  };
  const options = [...config instanceof OptionsError ? config.problems : patternProblems(config)];
  const known = config instanceof OptionsError ? config.valid : config;
  const user = known && validPatterns(known);
  const home = world.env("HOME");
  const root = await findRoot(place, home).catch(note);
  const others = user === undefined || root === undefined
    ? undefined
    : await otherRoots(user, root, home).catch(note);
  const roots = root === undefined ? [] : [root, ...others ?? []];
  // With a provider's options in part, a request would fail for another reason.
  const isProviderValid = !options.some((problem) => problem.startsWith("provider"));
  const source = user === undefined || !isProviderValid
    ? undefined
    : await engineModel(user, world, roots).catch(note);
  const engine = source !== undefined && "provider" in source ? source : undefined;
  const isKept = user !== undefined &&
    await ensureStateFolder(user.state_dir).then(() => true, note) === true;
  const checking = engine && checkProvider(engine.provider, engine.model, world.fetch);
  const providers = user === undefined ? [] : new Offers(world).own(withoutInvalidProviders(user, options));
  const usable = isKept && root !== undefined;
  const launch = usable
    ? await launchCommand(roots, engine?.provider.base_url, user, () => {}).catch(note)
    : undefined;
  const commands = usable ? await commandsReport(user, roots).catch(note) : undefined;
  const agents = user && agentsReport(user, { roots, env: world.env });
  if (user !== undefined && root !== undefined) {
    const files = await filesReport(user, root, world);
    options.push(...files.options);
    problems.push(...files.problems);
  }
  return {
    deno: `${Deno.version.deno} (${Deno.execPath()})`,
    root: roots.join(", "),
    ...providerReport(source),
    providers: await providers,
    sandbox: launch?.sandbox ?? "",
    ...defined({ check: await checking }),
    ...engineArguments(launch),
    ...defined({ commands, agents: await agents }),
    problems,
    options,
    programs: await Promise.all([
      programVersion("ripgrep", "rg", roots),
      programVersion("git", "git", roots),
    ]),
    engines,
    profiles: profileLines(),
  };
}

function profileLines(): readonly string[] {
  return Object.entries(PROFILES).map(([name, { purpose, reads, writes, network, unixSockets }]) => {
    const sockets = unixSockets ? "yes" : "no";
    return `${name}: ${purpose}; reads ${reads}; writes ${writes}; network: ${network}; Unix sockets: ${sockets}`;
  });
}

/** @param problems of the options: "providers.work.wire: …" */
function withoutInvalidProviders(user: UserConfig, problems: readonly string[]): UserConfig {
  const invalid = new Set(problems.map((problem) => /^providers\.([^.:]+)/.exec(problem)?.[1]));
  const providers = Object.entries(user.providers).filter(([name]) => !invalid.has(name));
  return { ...user, providers: Object.fromEntries(providers) };
}

/** Shows where the key comes from, never the key. */
function providerReport(
  engine: SourceModel | undefined,
): Pick<HealthReport, "address" | "provider" | "model" | "key"> {
  if (engine === undefined || !("provider" in engine)) {
    const agent = engine && agentOf(engine);
    const provider = agent === undefined ? "" : `agent ${agent.name}`;
    return { address: "", provider, model: agent?.title ?? "", key: "" };
  }
  const { base_url: address, name: provider, api_key, key_source } = engine.provider;
  return {
    address,
    provider,
    model: engine.model,
    key: api_key === undefined ? "none needed" : `from ${key_source}`,
  };
}

function engineArguments(launch: Launch | undefined): Pick<HealthReport, "engine_sandbox" | "engine_deno"> {
  if (launch === undefined) return { engine_sandbox: [], engine_deno: [] };
  const all = [launch.program, ...launch.args];
  // Without bubblewrap Deno itself is the program.
  const end = launch.args[0] === "run" ? 0 : all.indexOf("--") + 1;
  return { engine_sandbox: all.slice(0, end), engine_deno: all.slice(end) };
}

/** The command line of a read-only command. @throws {Error} if the rules cannot be read */
async function commandsReport(user: UserConfig, roots: readonly string[]): Promise<CommandsReport> {
  const [root = ""] = roots;
  const rules = await RuleBook.open(user.state_dir, root, user.rules);
  const denied = hiddenFiles(fileRules(user, rules.rules(NO_CHAT)));
  const sandbox = new CommandSandbox(roots, user);
  await sandbox.forgetOverlaySupport();
  const [{ hold, args, masks }, rehearses] = await Promise.all([
    sandbox.describe("look", denied),
    sandbox.rehearses(),
  ]);
  return {
    level: hold,
    args,
    rehearses: rehearses.works ? "" : rehearses.reason,
    masked_folders: hold === "none" ? [] : masks.folders,
    masked_files: hold === "none" ? [] : masks.files,
  };
}
