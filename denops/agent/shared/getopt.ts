/** Parses the arguments of a command as getopt does: options, their values, operands. Pure. */

interface Option {
  /** With its dashes: "-o", "--output". */
  readonly name: string;
  readonly value: string | undefined;
}

export interface Arguments {
  /** The unparsed options, for programs with long options after one dash. */
  readonly all: readonly string[];
  readonly options: readonly Option[];
  readonly operands: readonly string[];
}

/**
 * @param valued the options that take their value from the next argument: "-o --output"
 * @param until "operand" stops at the first operand, for programs that run the rest as a command
 */
export function readArguments(
  all: readonly string[],
  valued = "",
  until: "end" | "operand" = "end",
): Arguments {
  const takes = valued.split(" ");
  const options: Option[] = [];
  const operands: string[] = [];
  for (let at = 0; at < all.length; at++) {
    const arg = all[at] ?? "";
    const operand = !/^-./.test(arg);
    if (arg === "--" || (operand && until === "operand")) {
      operands.push(...all.slice(operand ? at : at + 1));
      break;
    }
    if (operand) operands.push(arg);
    else if (arg.startsWith("--") || takes.includes(arg)) {
      const [, name = arg, value] = /^(--[^=]*)=(.*)$/s.exec(arg) ?? [];
      const next = value === undefined && takes.some((one) => isNamed(name, one));
      options.push({ name, value: next ? all[++at] : value });
    } else {
      // "-abc" is -a -b -c, or -a with the value "bc".
      const letters = arg.slice(1);
      for (const [index, letter] of letters.split("").entries()) {
        const takesValue = takes.includes(`-${letter}`);
        const glued = letters.slice(index + 1);
        options.push({
          name: `-${letter}`,
          value: takesValue ? glued === "" ? all[++at] : glued : undefined,
        });
        if (takesValue) break;
      }
    }
  }
  return { all, options, operands };
}

/** Long options can be shortened: `--outp` is `--output`. Ambiguity does not matter. */
function isNamed(option: string, name: string): boolean {
  return option === name || (option.length > 2 && option.startsWith("--") && name.startsWith(option));
}

/** The values of all options with these names; the empty text for an option without a value. */
export function valuesOf({ options }: Arguments, wanted: string): readonly string[] {
  const names = wanted.split(" ");
  return options.filter((option) => names.some((name) => isNamed(option.name, name)))
    .map(({ value }) => value ?? "");
}

/** @param wanted "-o --output"; long names after one dash are compared literally */
export function has(invocation: Arguments, wanted: string): boolean {
  const long = wanted.split(" ").filter((name) => /^-[^-]./.test(name));
  return valuesOf(invocation, wanted).length > 0 ||
    invocation.all.some((arg) => long.some((name) => arg === name || arg.startsWith(`${name}=`)));
}
