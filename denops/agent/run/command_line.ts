/** The command line of `agent run`. `deno task docs` writes these options into the help. Pure. */
import { parseArgs } from "node:util";
import facts from "../protocol/options.json" with { type: "json" };
import { messageOf } from "../shared/errors.ts";

interface RunOption {
  readonly type: "string" | "boolean";
  readonly multiple?: true;
  readonly short?: string;
  /** Name of its value. */
  readonly value?: string;
  readonly doc: string;
}

export const RUN_OPTIONS = {
  "cwd": {
    type: "string",
    value: "DIR",
    doc: "Work in the project of this folder instead of the current one.",
  },
  "model": { type: "string", value: "MODEL", doc: "The model's name, as the provider spells it." },
  "provider": { type: "string", value: "PROVIDER", doc: "The model's provider." },
  "mode": { type: "string", value: "MODE", doc: "The session's mode, such as plan, which changes nothing." },
  "allow": {
    type: "string",
    multiple: true,
    value: "RULE",
    doc:
      'A rule that approves in this run, such as "run(npm test *)". Each rule needs an --allow of its own.',
  },
  "mcp": {
    type: "string",
    multiple: true,
    value: "NAME",
    doc: "Approve this MCP server of the configuration in this run. Its tools still need rules.",
  },
  "hooks": {
    type: "boolean",
    doc: "Approve all hooks of the configuration, the project and ~/.claude in this run.",
  },
  "json": { type: "boolean", doc: "Print one event a line, as JSON." },
  "session": {
    type: "string",
    value: "ID",
    doc: 'Continue this session of the project; "last": its newest one.',
  },
  "max-usd": { type: "string", value: "N", doc: "Stop when the session has cost that many US dollars." },
  "max-turns": { type: "string", value: "N", doc: "Stop after that many requests to the model." },
  "unsandboxed": {
    type: "boolean",
    doc: "Without a sandbox, run the commands that a rule of --allow covers. Others stay refused.",
  },
  "help": { type: "boolean", short: "h", doc: "Print this help." },
} as const satisfies Readonly<Record<string, RunOption>>;

/** The exit codes of `agent run`. */
export const EXIT = { done: 0, failed: 1, usage: 2, refused: 3, cap: 4 } as const;

/** The codes for the help. A stop by a signal has 128 and the signal's number. */
export const EXIT_DOCS: readonly (readonly [code: number, doc: string])[] = [
  [EXIT.done, "The turn is done."],
  [EXIT.failed, "The turn failed, or the model gave no real answer."],
  [EXIT.usage, "The command line or the configuration is wrong. Nothing was sent."],
  [EXIT.refused, "The turn is done, but a call needed an approval that no rule gave, or a rule denied it."],
  [EXIT.cap, "A limit was reached: of requests, tokens or money."],
  [130, "Ctrl-C stopped the turn (SIGTERM: 143, SIGHUP: 129)."],
  [141, "The reader of standard output is gone."],
];

export interface RunRequest {
  readonly cwd: string | undefined;
  readonly model: string | undefined;
  readonly provider: string | undefined;
  readonly mode: string | undefined;
  readonly allow: readonly string[];
  readonly mcp: readonly string[];
  readonly hooks: boolean;
  readonly json: boolean;
  readonly session: string | undefined;
  readonly maxUsd: number | undefined;
  readonly maxTurns: number | undefined;
  readonly unsandboxed: boolean;
  readonly help: boolean;
  /** Words of the message; "-" is standard input. */
  readonly words: readonly string[];
}

/** @throws {Error} one line */
export function readCommandLine(args: readonly string[]): RunRequest {
  const { values, positionals } = parsed(args);
  return {
    cwd: values.cwd,
    model: named("model", values.model),
    provider: named("provider", values.provider),
    mode: named("mode", values.mode),
    allow: values.allow ?? [],
    mcp: values.mcp ?? [],
    hooks: values.hooks ?? false,
    json: values.json ?? false,
    session: named("session", values.session),
    maxUsd: numberOf("max-usd", values["max-usd"], (value) => value > 0, "a number above 0"),
    maxTurns: numberOf(
      "max-turns",
      values["max-turns"],
      (value) => Number.isInteger(value) && value >= 1 && value <= MOST_TURNS,
      `a whole number from 1 to ${MOST_TURNS}`,
    ),
    unsandboxed: values.unsandboxed ?? false,
    help: values.help ?? false,
    words: positionals,
  };
}

const OPTIONS: readonly { readonly name: string; readonly max?: number }[] = facts.options;
const MOST_TURNS = OPTIONS.find(({ name }) => name === "limits.max_iterations")?.max ?? Infinity;

function parsed(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options: RUN_OPTIONS, allowPositionals: true });
  } catch (error) {
    // Node's explanations follow the first sentence.
    const [reason = ""] = messageOf(error).split(/\.(?:\s|$)/);
    throw new Error(`${reason}. Try agent run --help.`);
  }
}

function named(name: string, value: string | undefined): string | undefined {
  if (value === "") throw new Error(`--${name} needs a value. Try agent run --help.`);
  return value;
}

function numberOf(
  name: string,
  text: string | undefined,
  fits: (value: number) => boolean,
  wanted: string,
): number | undefined {
  if (text === undefined) return undefined;
  const value = text.trim() === "" ? NaN : Number(text);
  if (!fits(value) || !Number.isFinite(value)) throw new Error(`--${name} must be ${wanted}, not "${text}".`);
  return value;
}

export function usage(): string {
  const rows = optionRows().map(([option, doc]) => `  ${option.padEnd(WIDTH)}${doc}`);
  const codes = EXIT_DOCS.map(([code, doc]) => `  ${String(code).padEnd(WIDTH)}${doc}`);
  return [
    'Usage: agent run [OPTIONS] "text"',
    "",
    "Sends the text to the agent, and prints its answer. Without a text, or for the word -, reads standard input.",
    "",
    "Options:",
    ...rows,
    "",
    "Exit codes:",
    ...codes,
    "",
  ].join("\n");
}

const WIDTH = 20;

/** "--cwd DIR" and its description. */
export function optionRows(): readonly (readonly [option: string, doc: string])[] {
  const options: readonly (readonly [string, RunOption])[] = Object.entries(RUN_OPTIONS);
  return options.map(([name, { short, value, doc }]) => [
    `${short === undefined ? "" : `-${short}, `}--${name}${value === undefined ? "" : ` ${value}`}`,
    doc,
  ]);
}
