/** Wrong options in words. */
import { z } from "../../deps/zod.ts";
import { OPTION_NAMES } from "./options.ts";

/** The first problem of a failed parse as "option: what is wrong". */
export function firstProblem(error: z.ZodError): string {
  const issue = error.issues[0];
  if (issue === undefined) return "it is not valid";
  const where = issue.path.map(String).join(".");
  return where === "" ? issue.message : `${where}: ${issue.message}`;
}

/** A problem of the action `configure`, with the option's name as the user knows it. */
export function optionProblem(problem: string): string {
  return problem.replace(/^config\.(\w+)/, (_, key: string) => OPTION_NAMES[key] ?? key);
}
