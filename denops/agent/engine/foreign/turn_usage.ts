/** Tokens and money of a turn of another agent, as far as it reports them. Pure. */
import * as z from "../../deps/zod.ts";
import type { Usage } from "../log/messages.ts";

const count = z.number().min(0).max(1e12).nullish().transform((value) => Math.round(value ?? 0)).catch(0);
const Fields = z.object({
  inputTokens: z.number().min(0).max(1e12),
  outputTokens: z.number().min(0).max(1e12),
  totalTokens: count,
  thoughtTokens: count,
  cachedReadTokens: count,
  cachedWriteTokens: count,
});

/** @param usage of the answer to a prompt: the turn's */
export function usageIn(usage: unknown): Usage | undefined {
  const { data } = Fields.safeParse(usage);
  if (data === undefined) return undefined;
  const { totalTokens, thoughtTokens, cachedReadTokens: cachedRead, cachedWriteTokens: cachedWrite } = data;
  const [input, output] = [Math.round(data.inputTokens), Math.round(data.outputTokens)];
  const cached = cachedRead + cachedWrite;
  // Some count cached tokens and thoughts beside the others, as Anthropic does, some among them.
  const isBeside = cached > input || totalTokens >= input + output + cached && cached > 0;
  const hasThoughts = totalTokens >= input + output + thoughtTokens + (isBeside ? cached : 0);
  return {
    input: isBeside ? input + cached : input,
    output: hasThoughts ? output + thoughtTokens : output,
    cachedRead,
    cachedWrite,
  };
}

/**
 * The cost of a turn. @param total US dollars of the agent's session so far, if it tells them @param before the same
 * before the turn
 */
export function turnCost(total: number | undefined, before: number | undefined): number | undefined {
  if (total === undefined) return undefined;
  // An agent may begin to count again.
  return before === undefined || total < before ? total : total - before;
}
