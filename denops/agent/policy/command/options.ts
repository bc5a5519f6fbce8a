/** Reads the arguments of a command as getopt does: options, their values, operands. Pure. */

export interface Option {
  /** With its dashes: "-o", "--output". */
  readonly name: string;
  readonly value: string | undefined;
}

export interface Arguments {
  /** As they stood, for options of one dash and many letters. */
  readonly all: readonly string[];
  readonly options: readonly Option[];
  readonly operands: readonly string[];
}

const SETS = new Map<string, ReadonlySet<string>>();

/** The words of a table's cell, split once. */
export function names(cell: string): ReadonlySet<string> {
  const known = SETS.get(cell);
  if (known !== undefined) return known;
  const made: ReadonlySet<string> = new Set(cell.split(" ").filter((name) => name !== ""));
  SETS.set(cell, made);
  return made;
}

/**
 * @param valued the options that take their value from the next argument: "-o --output"
 * @param until "operand" stops at the first operand, as programs do that run the rest as a command
 */
export function readArguments(
  all: readonly string[],
  valued = "",
  until: "end" | "operand" = "end",
): Arguments {
  const takes = names(valued);
  const options: Option[] = [];
  const operands: string[] = [];
  for (let index = 0; index < all.length; index++) {
    const argument = all[index] ?? "";
    if (argument === "--" || (until === "operand" && !isOption(argument))) {
      operands.push(...all.slice(argument === "--" ? index + 1 : index));
      break;
    }
    if (!isOption(argument)) {
      operands.push(argument);
    } else if (argument.startsWith("--") || takes.has(argument)) {
      const equals = argument.startsWith("--") ? argument.indexOf("=") : -1;
      const name = equals < 0 ? argument : argument.slice(0, equals);
      if (equals >= 0) options.push({ name, value: argument.slice(equals + 1) });
      else options.push({ name, value: takesValue(name, takes) ? all[++index] : undefined });
    } else if (pushCluster(argument, takes, all[index + 1], options)) {
      index++;
    }
  }
  return { all, options, operands };
}

function takesValue(name: string, takes: ReadonlySet<string>): boolean {
  return takes.has(name) || (name.startsWith("--") && [...takes].some((one) => isNamed(name, one)));
}

function isOption(argument: string): boolean {
  return argument.length > 1 && argument.startsWith("-");
}

/** "-abc" is -a -b -c, or -a with the value "bc". True if the value was the next argument. */
function pushCluster(
  argument: string,
  takes: ReadonlySet<string>,
  next: string | undefined,
  options: Option[],
): boolean {
  for (let at = 1; at < argument.length; at++) {
    const name = `-${argument[at]}`;
    if (!takes.has(name)) {
      options.push({ name, value: undefined });
      continue;
    }
    const glued = argument.slice(at + 1);
    options.push({ name, value: glued === "" ? next : glued });
    return glued === "";
  }
  return false;
}

/** Long options may be shortened: `--outp` is `--output`. That a short form might be ambiguous does not matter. */
function isNamed(given: string, name: string): boolean {
  return given === name ||
    (name.startsWith("--") && given.length > 2 && given.startsWith("--") && name.startsWith(given));
}

/** @param wanted "-o --output"; names of one dash and many letters are compared as they stand */
export function has(given: Arguments, wanted: string): boolean {
  return find(given, wanted) !== undefined;
}

/** The values of all options of these names; the empty text where none was given. */
export function valuesOf(given: Arguments, wanted: string): readonly string[] {
  const list = [...names(wanted)];
  return given.options.filter((option) => list.some((name) => isNamed(option.name, name)))
    .map((option) => option.value ?? "");
}

export function find(given: Arguments, wanted: string): string | undefined {
  for (const name of names(wanted)) {
    const long = name.length > 2 && !name.startsWith("--");
    const found = long
      ? given.all.find((argument) => argument === name || argument.startsWith(`${name}=`))
      : given.options.find((option) => isNamed(option.name, name))?.name;
    if (found !== undefined) return found;
  }
  return undefined;
}
