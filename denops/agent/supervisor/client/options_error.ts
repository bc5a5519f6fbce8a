/** All problems of invalid options, patterns included, although only valid options are read further. */
import type { z } from "../../deps/zod.ts";
import { patternProblems } from "../../policy/rules.ts";
import { UserConfig } from "../../protocol/config.ts";
import { optionProblems, OptionsError } from "../../protocol/options/problems.ts";

const Patterns = UserConfig.pick({ rules: true, safe_to_write: true, deny_read: true });

/** @param config the options as Neovim has sent them @param error of their parse */
export function optionsError(config: unknown, error: z.ZodError): OptionsError {
  const { data } = Patterns.safeParse(config);
  return new OptionsError([...optionProblems(error), ...data === undefined ? [] : patternProblems(data)]);
}
