/** Wrong options in words. */
import * as z from "../../deps/zod.ts";
import type { UserConfig } from "../config.ts";
import { OPTION_NAMES } from "./options.ts";

/** Invalid options of the user. Its message is one line about the first. */
export class OptionsError extends Error {
  /**
   * @param problems one line each: the option's name, a colon and what is wrong; at least one
   * @param valid the options without the invalid ones, only for reports
   */
  constructor(readonly problems: readonly string[], readonly valid?: UserConfig) {
    const [first, ...more] = problems;
    const others = more.length === 0 ? "" : ` And ${more.length} more, see :checkhealth agent.`;
    super(`Invalid option ${first}${others}`);
  }
}

/** The first problem of a failed parse as "option: what is wrong". */
export function firstProblem({ issues: [issue] }: z.ZodError): string {
  return issue === undefined ? "it is not valid" : problemOf(issue);
}

/** Problems of the action `configure`, with the options' names as the user knows them. */
export function optionProblems({ issues }: Pick<z.ZodError, "issues">): readonly string[] {
  return issues.map((issue) => {
    const problem = problemOf(issue).replace(
      /^config\.(\w+)/,
      (_, key: string) => OPTION_NAMES[key] ?? key,
    );
    return `${problem}.`;
  });
}

function problemOf(issue: z.core.$ZodIssue): string {
  const where = issue.path.map(String).join(".");
  return where === "" ? inWords(issue) : `${where}: ${inWords(issue)}`;
}

const TYPES: Readonly<Record<string, string>> = {
  array: "a list",
  boolean: "true or false",
  int: "a whole number",
  number: "a number",
  object: "a table with names",
  record: "a table with names",
  string: "a string",
};

function inWords(issue: z.core.$ZodIssue): string {
  switch (issue.code) {
    case "invalid_type":
      return `must be ${TYPES[issue.expected] ?? issue.expected}`;
    case "invalid_value":
      return `must be ${issue.values.length > 1 ? "one of " : ""}${issue.values.map(String).join(", ")}`;
    case "too_small":
      return issue.origin === "string" ? "must not be empty" : `must be at least ${issue.minimum}`;
    case "too_big":
      return `must be at most ${issue.maximum}`;
    default:
      return issue.message;
  }
}
