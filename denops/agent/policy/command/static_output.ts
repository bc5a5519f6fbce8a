/** What a command prints, where the text alone says so: `$(echo rm)`, `cat <<EOF`. Pure. */
import type { Command, ParsedScript, RedirectDescriptor, Redirection } from "unbash";
import type { Input } from "./scene.ts";
import { combine, expandParts, expandText, expandWord, type Surroundings } from "./words.ts";

/** @return undefined if the script does anything but print a known text */
export function outputOfScript(script: ParsedScript, around: Surroundings): readonly string[] | undefined {
  const [statement, ...others] = script.commands;
  if (statement?.command.type !== "Command" || others.length > 0 || script.errors !== undefined) {
    return undefined;
  }
  // Substitution takes away the newlines at the end.
  return outputOf(statement.command, { kind: "nothing" }, around)?.map((text) => text.replace(/\n+$/, ""));
}

/** @param redirected whether it counts what is written into a file */
export function outputOf(
  command: Command,
  input: Input,
  around: Surroundings,
  redirected = false,
): readonly string[] | undefined {
  if (command.name === undefined || command.prefix.length > 0) return undefined;
  const words = [command.name, ...command.args];
  if (!redirected && command.redirects.some((redirect) => redirect.type === "Redirect")) return undefined;
  const ways = combine(words.map((word) => word.type === "Word" ? expandWord(word, around) : [[]]));
  const fed = inputOf(command.redirects, around) ?? input;
  const outputs = ways.map((fields) => print(fields.map((field) => field.value), fed));
  return outputs.every((output) => output !== undefined) ? outputs : undefined;
}

function print([name, ...args]: readonly string[], input: Input): string | undefined {
  switch (name) {
    case "echo": {
      const [first = ""] = args;
      const flags = /^-[neE]+$/.test(first);
      const text = args.slice(flags ? 1 : 0).join(" ");
      return `${flags && first.includes("e") ? unescape(text) : text}\n`;
    }
    case "printf":
      return format(args[0] === "--" ? args.slice(1) : args);
    case "pwd":
      return ".\n";
    case "cat":
      return input.kind === "text" && args.every((arg) => arg === "-") ? input.text : undefined;
    case "tee":
      return input.kind === "text" ? input.text : undefined;
    default:
      return undefined;
  }
}

function format([pattern, ...values]: readonly string[]): string | undefined {
  if (pattern === undefined || pattern.startsWith("-")) return undefined;
  const holes = pattern.match(/%[^%]/g)?.length ?? 0;
  if (/%[^%sbqdi]/.test(pattern)) return undefined;
  let rest = values;
  let text = "";
  do {
    const taken = rest.slice(0, holes);
    rest = rest.slice(holes);
    let at = 0;
    text += unescape(pattern).replace(/%([%sbqdi])/g, (_, kind: string) => {
      if (kind === "%") return "%";
      const value = taken[at++] ?? "";
      return kind === "b" ? unescape(value) : value;
    });
  } while (rest.length > 0 && holes > 0);
  return text;
}

const ESCAPES: Readonly<Record<string, string>> = {
  n: "\n",
  t: "\t",
  r: "\r",
  a: "",
  b: "",
  e: "\x1b",
  "\\": "\\",
  '"': '"',
  "'": "'",
};

function unescape(text: string): string {
  return text.replace(
    /\\(?:x([0-9a-fA-F]{1,2})|u([0-9a-fA-F]{1,4})|0?([0-7]{1,3})|([ntrabe\\"']))/g,
    (_, hex?: string, unicode?: string, octal?: string, letter?: string) => {
      const digits = hex ?? unicode;
      if (digits !== undefined) return String.fromCharCode(parseInt(digits, 16));
      if (octal !== undefined) return String.fromCharCode(parseInt(octal, 8));
      return ESCAPES[letter ?? ""] ?? "";
    },
  );
}

function isInput(descriptor: RedirectDescriptor): boolean {
  return descriptor.type === "FileDescriptor" && descriptor.value === 0;
}

/** What the redirections put on the command's input; the last one wins, undefined if there is none. */
export function inputOf(redirects: readonly Redirection[], around: Surroundings): Input | undefined {
  let found: Input | undefined;
  for (const redirect of redirects) {
    if (redirect.type === "HereDoc") {
      const { parts, text } = redirect.body;
      found = { kind: "text", text: parts === undefined ? text : expandParts(parts, around) };
    } else if (redirect.type === "HereString") {
      const texts = redirect.target === undefined ? [] : expandText(redirect.target, around);
      found = { kind: "text", text: `${texts.join("\n")}\n` };
    } else if (redirect.descriptor !== undefined && !isInput(redirect.descriptor)) {
      continue;
    } else if (redirect.operator === "<" || redirect.operator === "<>" || redirect.operator === "<&") {
      const path = redirect.target === undefined ? "" : expandText(redirect.target, around)[0] ?? "";
      found = redirect.operator === "<&" ? { kind: "unknown" } : { kind: "file", path };
    }
  }
  return found;
}
