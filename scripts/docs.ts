/**
 * Writes what the help says of each option from the options' schema: `deno task docs`. Tag, heading and first
 * paragraph are the schema's; what follows them in an entry is written by hand and stays.
 */
import { join } from "node:path";
import { PROJECT, toolEnvironment } from "./environment.ts";

export interface Option {
  readonly name: string;
  /** Types of Lua joined by "|". */
  readonly type: string;
  /** As Lua writes it. */
  readonly default: string;
  readonly doc: string;
}

const WIDTH = 78;
const INDENT = " ".repeat(8);
/** Column of an option's type. */
const TYPE_COLUMN = 24;
/** A longer default stands in a code block of the entry. */
export const LONGEST_DEFAULT = 40;

/** Lua that returns the options as {@link Option}s. */
export const READ_OPTIONS = `return vim.tbl_map(function(option)
  return { name = option.name, type = option.type, default = vim.inspect(option.default), doc = option.doc }
end, require("agent.config.schema").options)`;

/** The help with its options as the schema has them. @param text of doc/agent.txt */
export function withOptions(text: string, options: readonly Option[]): string {
  const lines = text.split("\n");
  let end = 0;
  for (const option of options) {
    const known = lines.findIndex((line) => line.trim() === tagOf(option));
    const at = known === -1 ? end : known;
    if (known === -1) lines.splice(at, 0, "", "", "");
    const length = known === -1 ? 2 : headLength(lines, at);
    lines.splice(at, length, ...headOf(option));
    end = nextTag(lines, at + 1);
  }
  return lines.join("\n");
}

function tagOf({ name }: Option): string {
  return `*agent-option-${name}*`;
}

function headOf(option: Option): readonly string[] {
  const { name, type, doc } = option;
  const value = option.default.length > LONGEST_DEFAULT ? "below" : option.default;
  const heading = `${name.padEnd(TYPE_COLUMN - 1)} ${type.replaceAll("|", " or ")}; default: ${value}`;
  return [tagOf(option).padStart(WIDTH), heading, ...wrapped(doc)];
}

/** Lines from the tag to the end of the first paragraph. */
function headLength(lines: readonly string[], at: number): number {
  let length = 2;
  while (lines[at + length]?.startsWith(INDENT)) length += 1;
  return length;
}

function nextTag(lines: readonly string[], from: number): number {
  const found = lines.findIndex((line, index) => index >= from && /\*\S+\*$/.test(line));
  return found === -1 ? lines.length : found;
}

function wrapped(text: string): readonly string[] {
  const lines: string[] = [];
  for (const word of text.split(" ")) {
    const longer = `${lines.at(-1) ?? INDENT}${(lines.at(-1) ?? INDENT) === INDENT ? "" : " "}${word}`;
    if (lines.length === 0 || longer.length > WIDTH) lines.push(INDENT + word);
    else lines[lines.length - 1] = longer;
  }
  return lines;
}

if (import.meta.main) {
  const { PATH, AGENT_NVIM = "nvim" } = await toolEnvironment(["nvim"]);
  const lua = `vim.opt.runtimepath:prepend(${JSON.stringify(PROJECT)})
    io.write(vim.json.encode((function() ${READ_OPTIONS} end)()))`;
  const script = await Deno.makeTempFile({ suffix: ".lua" });
  await Deno.writeTextFile(script, lua);
  const args = ["--clean", "-l", script];
  const { stdout } = await new Deno.Command(AGENT_NVIM, { args, env: PATH === undefined ? {} : { PATH } })
    .output();
  await Deno.remove(script);
  const path = join(PROJECT, "doc/agent.txt");
  const text = await Deno.readTextFile(path);
  const next = withOptions(text, JSON.parse(new TextDecoder().decode(stdout)));
  if (next !== text) await Deno.writeTextFile(path, next);
  console.log(next === text ? "docs: nothing to change" : "docs: doc/agent.txt written");
}
