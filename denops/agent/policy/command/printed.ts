/** Computes a command's output from its words, as the input of the next command in a pipe. Pure. */
import { findsWhere } from "./files.ts";
import { UNKNOWN } from "./places.ts";
import type { Input } from "./scene.ts";

/** Filters, which pass on a part of their input. */
const FILTERS = /^(e?grep|fgrep|rg|sort|uniq|head|tail|sed|awk|tr|cut|shuf|tac|xargs)$/;

export function printed(
  [path = "", ...args]: readonly string[],
  { folder, input }: { readonly folder: string; readonly input: Input },
): Input {
  const name = path.slice(path.lastIndexOf("/") + 1);
  const operands = args.filter((arg) => !arg.startsWith("-"));
  if (name === "echo") return { kind: "text", text: args.filter((arg) => !/^-[neE]+$/.test(arg)).join(" ") };
  if (name === "printf") {
    const [format = "", ...values] = operands;
    const text = format.replace(/%[sdbq]/g, () => values.shift() ?? "").replaceAll("\\n", "\n");
    return { kind: "text", text: [text, ...values].join(" ") };
  }
  if (name === "pwd" || (name === "git" && args.join(" ") === "rev-parse --show-toplevel")) {
    return { kind: "text", text: name === "pwd" && folder !== "" ? folder : "." };
  }
  if (name === "ls" || name === "find" || name === "fd") {
    const { from, all } = name === "find" ? findsWhere(args) : { from: operands, all: true };
    const names = (from.length > 0 ? from : ["."]).map((one) => `${one.replace(/\/+$/, "")}/*`);
    return all ? { kind: "names", names } : some(names);
  }
  if ((name === "cat" || name === "tee") && (name === "tee" || operands.length === 0)) return input;
  return FILTERS.test(name) && input.kind === "names" ? some(input.names) : { kind: "unknown" };
}

/** Some unspecified files of these folders. */
function some(names: readonly string[]): Input {
  return { kind: "names", names: names.map((name) => name.replace(/\*$/, UNKNOWN)) };
}
