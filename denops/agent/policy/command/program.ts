/** How a program is described that does one thing or another by its subcommands. Data only. */
import type { Severity } from "./severity.ts";

export type Row = readonly [Severity, names: string, reason: string];

export interface Program {
  /** What it does when no row says otherwise. */
  readonly base: readonly [Severity, reason: string];
  readonly valued?: string;
  /** By the first operands, up to three: "publish, config set". The longest match counts. */
  readonly subcommands?: readonly Row[];
  /** Options that make it worse, whatever else it does; separated by spaces. */
  readonly options?: readonly Row[];
  /** Options that leave what only asks harmless, besides {@link HARMLESS_OPTIONS}; any other makes it medium. */
  readonly harmless?: string;
  /** An operand `@file` holds further options. */
  readonly optionFiles?: true;
  /** Needs the network always, or for these subcommands. */
  readonly network?: true | string;
  /** More operands than these are not just read. */
  readonly operands?: readonly [atMost: number, Severity, reason: string];
}

/** They change no more than what a tool prints. */
export const HARMLESS_OPTIONS =
  "--help -h --version --json -q --quiet --silent -v --verbose --color --no-color --no-progress -a --all --format";

/** What several programs do. */
export const installs = "installs packages, which may run their own scripts";
export const publishes = "publishes to others";
export const account = "changes or shows an account's secrets";
export const builds = "builds or runs what the project says";
export const deletes = "deletes what others use";
export const system = "changes the system";
