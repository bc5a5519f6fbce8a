/** The options of a program that works without Neovim: a JSON file with the groups and names of `setup()`. */
import { resolve } from "node:path";
import { withDefaults } from "../policy/defaults.ts";
import { UserConfig } from "../protocol/config.ts";
import { optionProblems } from "../protocol/options/problems.ts";
import facts from "../protocol/options.json" with { type: "json" };
import { messageOf } from "../shared/errors.ts";
import { defined, isRecord } from "../shared/records.ts";
import { configurationFile, defaultStateFolder, neovimConfigFolder, type Variables } from "./folders.ts";

/** Values by the options' full names, such as "limits.max_iterations". Those of models are in `models`. */
export interface OptionValues {
  readonly byName: ReadonlyMap<string, unknown>;
  readonly models: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

/** One line about the file and how to correct it. */
export class ConfigurationError extends Error {}

type OptionFacts = Pick<(typeof facts.options)[number], "name" | "receiver"> & { readonly key?: string };

const OPTIONS: readonly OptionFacts[] = facts.options;
const RENAMED: Readonly<Record<string, { readonly name: string }>> = facts.renamed;
const MODEL_GROUP = "models.*";

/**
 * Reads the user's file.
 * @returns undefined without a file
 * @throws {ConfigurationError} if it is invalid
 */
export async function readConfiguration(variables: Variables): Promise<OptionValues | undefined> {
  const file = configurationFile(variables);
  let text: string;
  try {
    text = await Deno.readTextFile(file);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw new ConfigurationError(`Cannot read ${file}: ${messageOf(error)}.`);
  }
  try {
    return optionValues(JSON.parse(text));
  } catch (error) {
    throw new ConfigurationError(`Cannot use ${file}: ${messageOf(error)}`);
  }
}

/** Says how to write a file. Its last lines are the text of one. */
export function missingConfiguration(variables: Variables): string {
  const file = configurationFile(variables);
  const lines = JSON.stringify({ provider: "anthropic" }, undefined, 2);
  return `Cannot start: ${file} does not exist. Run :Agent config export in Neovim, or write:\n${lines}`;
}

/** @throws {Error} one line about the first unknown name */
function optionValues(options: unknown): OptionValues {
  if (!isRecord(options)) throw new Error("it must be an object with the names of options.");
  const byName = new Map<string, unknown>();
  const models: Record<string, Readonly<Record<string, unknown>>> = {};
  for (const [name, value] of Object.entries(options)) {
    if (name === "models") Object.assign(models, modelValues(value));
    else if (isOption(name)) byName.set(name, value);
    else if (isGroup(name)) { for (const [full, part] of groupValues(name, value)) byName.set(full, part); }
    else throw unknownOption(name);
  }
  return { byName, models };
}

function modelValues(value: unknown): OptionValues["models"] {
  if (!isRecord(value)) throw new Error("models must be an object.");
  return Object.fromEntries(
    Object.entries(value).map(([model, options]) => {
      const parts = groupValues(MODEL_GROUP, options, `models["${model}"]`);
      return [
        model,
        Object.fromEntries(parts.map(([name, part]) => [name.slice(MODEL_GROUP.length + 1), part])),
      ];
    }),
  );
}

/** @param display the group in a message */
function groupValues(
  group: string,
  value: unknown,
  display = group,
): readonly (readonly [string, unknown])[] {
  if (!isRecord(value)) throw new Error(`${display} must be an object.`);
  return Object.entries(value).map(([part, inner]) => {
    if (!isOption(`${group}.${part}`)) throw unknownOption(`${display}.${part}`);
    return [`${group}.${part}`, inner] as const;
  });
}

function isOption(name: string): boolean {
  return OPTIONS.some((option) => option.name === name);
}

function isGroup(name: string): boolean {
  return OPTIONS.some((option) => option.name.startsWith(`${name}.`));
}

function unknownOption(name: string): Error {
  const renamed = RENAMED[name];
  return new Error(
    renamed === undefined
      ? `unknown option ${name}. See :help agent-options in Neovim.`
      : `the option ${name} is now ${renamed.name}.`,
  );
}

/** Changes by the command line, which override the file. */
export interface OptionChanges {
  readonly byName?: Readonly<Record<string, unknown>>;
  /** Rules of this run only, in addition to those of the file. */
  readonly allow?: readonly string[];
}

/**
 * The configuration of a supervisor. Its rules and globs are checked when that starts.
 * @throws {ConfigurationError} if an option is invalid
 */
export function supervisorConfiguration(
  { byName, models }: OptionValues,
  changes: OptionChanges,
  variables: Variables,
): UserConfig {
  const values = new Map([...byName, ...Object.entries(changes.byName ?? {})]);
  const rules: Record<string, unknown> = {};
  const sent: Record<string, unknown> = { rules, models };
  for (const { name, key, receiver } of OPTIONS) {
    const value = values.get(name);
    const part = name.slice(name.lastIndexOf(".") + 1);
    if (value === undefined || receiver === "neovim") continue;
    if (key === name) rules[part] = value;
    else sent[key ?? part] = value;
  }
  const config = {
    ...sent,
    rules: { ...rules, allow: joined(rules.allow, changes.allow) },
    safe_to_write: safeToWrite(sent.safe_to_write),
    state_dir: stateFolder(values.get("state_dir"), variables),
    config_dir: neovimConfigFolder(variables),
    // In a terminal of Neovim: commands must not reach it.
    ...defined({ socket: variables.NVIM || undefined }),
  };
  const { data, error } = UserConfig.safeParse(withDefaults(config));
  if (data !== undefined) return data;
  const issues = error.issues.map((issue) => ({ ...issue, path: ["config", ...issue.path] }));
  const problems = optionProblems({ issues });
  throw new ConfigurationError(
    `Invalid ${problems.length === 1 ? "option" : "options:"} ${problems.join(" ")}`,
  );
}

function joined(rules: unknown, more: readonly string[] = []): unknown {
  return Array.isArray(rules) ? [...rules, ...more] : rules ?? more;
}

/** Users write pairs: `["docs/**", true]`. */
function safeToWrite(pairs: unknown): unknown {
  if (!Array.isArray(pairs)) return pairs ?? [];
  return pairs.map((pair: unknown) => Array.isArray(pair) ? { glob: pair[0], safe: pair[1] } : pair);
}

function stateFolder(chosen: unknown, variables: Variables): unknown {
  if (chosen === undefined) return defaultStateFolder(variables);
  return typeof chosen === "string" ? resolve(expanded(chosen, variables)) : chosen;
}

function expanded(path: string, { HOME: home }: Variables): string {
  return home === undefined ? path : path.replace(/^~(?=\/|$)/, home);
}
