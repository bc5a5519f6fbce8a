/** All problems of invalid options, patterns included, although only valid options are read further. */
import type * as z from "../../deps/zod.ts";
import { patternProblems } from "../../policy/rules.ts";
import { UserConfig } from "../../protocol/config.ts";
import { optionProblems, OptionsError } from "../../protocol/options/problems.ts";
import { isRecord } from "../../shared/records.ts";

const Patterns = UserConfig.pick({ rules: true, safe_to_write: true, deny_read: true });

/** @param config the options as Neovim has sent them @param error of the parse of its action */
export function optionsError(config: unknown, error: z.ZodError): OptionsError {
  const { data } = Patterns.safeParse(config);
  const problems = [...optionProblems(error), ...data === undefined ? [] : patternProblems(data)];
  return new OptionsError(problems, validOptions(config));
}

/** The options without the invalid ones; undefined if a required one is invalid. */
function validOptions(config: unknown): UserConfig | undefined {
  const { data, error } = UserConfig.safeParse(config);
  if (data !== undefined) return data;
  const paths =
    error?.issues.flatMap((issue) =>
      issue.code === "unrecognized_keys" ? issue.keys.map((key) => [...issue.path, key]) : [issue.path]
    ) ?? [];
  return UserConfig.safeParse(paths.reduce(without, config)).data;
}

/** A copy without the value at this path, or without the list that contains it. */
function without(value: unknown, [key, ...rest]: readonly PropertyKey[]): unknown {
  if (!isRecord(value) || typeof key !== "string") return value;
  const { [key]: inner, ...others } = value;
  return rest.length > 0 && isRecord(inner) ? { ...others, [key]: without(inner, rest) } : others;
}
