/** The arguments of a prompt, as the user types them: `name=value other="two words"`. Pure. */
import { ToolError } from "../../shared/errors.ts";
import type { ServerPrompt } from "./lists.ts";

const LONGEST_VALUE = 20_000;

/** Words without a name are the value of the only argument. @throws {ToolError} */
export function argumentsOf(
  { name, arguments: known }: ServerPrompt,
  words: string,
): Readonly<Record<string, string>> {
  const values = new Map<string, string>();
  const rest = words.replace(/(?<=^|\s)([^\s="]+)=(?:"([^"]*)"|(\S*))/g, (whole, key, quoted, plain) => {
    if (!known.some((one) => one.name === key)) return whole;
    values.set(key, (quoted ?? plain ?? "").slice(0, LONGEST_VALUE));
    return "";
  }).trim();
  const open = known.filter((one) => !values.has(one.name));
  const [first] = open.filter(({ required }) => required).length === 1
    ? open.filter(({ required }) => required)
    : open;
  if (rest !== "" && first !== undefined) values.set(first.name, rest.slice(0, LONGEST_VALUE));
  const missing = known.filter((one) => one.required && !values.has(one.name)).map((one) => `${one.name}=…`);
  if (missing.length > 0) throw new ToolError(`the prompt ${name} needs ${missing.join(" ")}`);
  return Object.fromEntries(values);
}
