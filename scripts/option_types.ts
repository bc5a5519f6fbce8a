/** Generates `protocol/options/options.ts`, the zod schemas of options, from `protocol/options.json`. */
import facts from "../denops/agent/protocol/options.json" with { type: "json" };

interface Option {
  readonly name: string;
  readonly key?: string | undefined;
  readonly type: string;
  readonly zod?: string | undefined;
  readonly one_of?: readonly (string | boolean)[] | undefined;
  readonly min?: number | undefined;
  readonly max?: number | undefined;
  readonly default?: unknown;
  readonly receiver: string;
  readonly doc: string;
}

function baseOf({ name, type, zod, one_of, min, max }: Option): string {
  if (zod !== undefined) return zod;
  const range = (min === undefined ? "" : `.min(${min})`) + (max === undefined ? "" : `.max(${max})`);
  if (one_of !== undefined && range !== "") {
    const literals = one_of.map((one) => `z.literal(${JSON.stringify(one)})`).join(", ");
    const error = `must be one of ${one_of.join(", ")}, or a number from ${min} to ${max}`;
    return `z.union([${literals}, z.number()${range}], { error: ${JSON.stringify(error)} })`;
  }
  const types: Readonly<Record<string, string>> = {
    string: one_of === undefined ? "z.string().min(1)" : `z.enum(${JSON.stringify(one_of)})`,
    boolean: "z.boolean()",
    integer: `z.int()${range}`,
    number: `z.number()${range}`,
    list: "list(z.string())",
  };
  const base = types[type.replace("|nil", "")];
  if (base === undefined) throw new Error(`options.json: ${name} needs "zod", as its type is ${type}.`);
  return base;
}

function schemaOf(option: Option): string {
  if (option.default !== undefined) return `${baseOf(option)}.default(${JSON.stringify(option.default)})`;
  return `${baseOf(option)}.optional()`;
}

const lastPart = (name: string) => name.slice(name.lastIndexOf(".") + 1);
const keyOf = ({ key, name }: Option) => lastPart(key ?? name);

function shape(name: string, rows: readonly Option[]): string {
  const lines = rows.flatMap((row) => [`/** ${row.doc} */`, `${keyOf(row)}: ${schemaOf(row)},`]);
  return `export const ${name} = {\n${lines.join("\n")}\n};\n`;
}

/** TypeScript, not formatted. */
export function optionTypes(): string {
  const rows: readonly Option[] = facts.options;
  const isIn = (group: string) => ({ name }: Option) => name.startsWith(`${group}.`);
  const plain = rows.filter(({ key, name }) => key !== name);
  const body = [
    "/** Options that the supervisor passes on to the engine. */",
    shape("ENGINE_OPTIONS", plain.filter(({ receiver }) => receiver === "engine")),
    "/** Options that only the supervisor uses. */",
    shape("SUPERVISOR_OPTIONS", plain.filter(({ receiver }) => receiver === "supervisor")),
    "/** Options in `rules`. */",
    shape("RULE_OPTIONS", rows.filter(isIn("rules"))),
    "/** Options of each model in `models`. */",
    shape("MODEL_OPTIONS", rows.filter(isIn("models"))),
    "/** Names of options by their keys in UserConfig, if they differ. */",
    `export const OPTION_NAMES: Readonly<Record<string, string>> = ${
      JSON.stringify(Object.fromEntries(
        plain.filter((row) => row.receiver !== "neovim" && row.name !== keyOf(row)).map((
          row,
        ) => [keyOf(row), row.name]),
      ))
    };\n`,
  ].join("\n");
  const shapes = new Set(rows.flatMap(({ zod }) => zod?.match(/\w+/g) ?? []));
  return [
    "// Generated from options.json by `deno task docs`. Edit options.json instead.",
    'import * as z from "../../deps/zod.ts";',
    `import { ${[...shapes.add("list").add("map")].sort().join(", ")} } from "./shapes.ts";\n`,
    body,
  ].join("\n");
}
