/** The logins that another agent offers. They may be hostile. Pure. Source: agentclientprotocol.com, "Authentication". */
import * as z from "../../deps/zod.ts";
import type { AgentLoginMethod } from "../../protocol/results/agent_login.ts";
import { cleanLine } from "../../policy/clean.ts";

const LONGEST_NAME = 100;
const LONGEST_DESCRIPTION = 300;
const MOST_METHODS = 20;
const MOST_WORDS = 20;
/** Characters of an argument or a variable: the user reads all of them. */
const LONGEST_WORD = 100;

const text = z.string().nullish().catch(undefined);
const words = z.array(z.string()).max(MOST_WORDS).nullish();
const Method = z.object({
  id: z.string().min(1),
  name: text,
  description: text,
  type: text,
  args: words,
  env: z.record(z.string(), z.string()).nullish(),
  /** Of the type "env_var"; older agents name only one. */
  vars: z.array(z.object({ name: z.string() })).max(MOST_WORDS).nullish().catch(undefined),
  varName: text,
});

/** Leaves out logins whose command would look different on screen. */
export function loginMethodsIn(methods: unknown): readonly AgentLoginMethod[] {
  const all = (Array.isArray(methods) ? methods : []).slice(0, MOST_METHODS).flatMap(methodOf);
  return all.filter(({ id }, at) => all.findIndex((other) => other.id === id) === at);
}

function methodOf(entry: unknown): readonly AgentLoginMethod[] {
  const { data } = Method.safeParse(entry);
  if (data === undefined) return [];
  const { id, args, env, vars, varName } = data;
  const variables = [...(vars ?? []).map(({ name }) => name), ...varName ? [varName] : []];
  const all = [id, ...args ?? [], ...variables, ...Object.entries(env ?? {}).flat()];
  if (!all.every(isPlain) || Object.keys(env ?? {}).length > MOST_WORDS) return [];
  const description = cleanLine(data.description ?? "", LONGEST_DESCRIPTION);
  return [{
    id,
    name: cleanLine(data.name ?? "", LONGEST_NAME) || id,
    ...(description === "" ? {} : { description }),
    type: data.type === "terminal" ? "terminal" : data.type === "env_var" ? "variables" : "agent",
    args: [...args ?? []],
    env: { ...env },
    variables,
  }];
}

function isPlain(word: string): boolean {
  return cleanLine(word, LONGEST_WORD) === word;
}
