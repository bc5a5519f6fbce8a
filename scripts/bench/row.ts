/** What a figure of the bench is, and how it is shown. */
import { join } from "node:path";
import { entryFiles, isBundle } from "../../denops/agent/supervisor/agents/bundle.ts";
import { PROJECT } from "../environment.ts";

/** Of a `share` more is better, of everything else less. */
export type Unit = "ms" | "MB" | "bytes" | "count" | "share";

/** The figure that a value is compared with, from the same run. */
interface Base {
  /** "floor": the smallest program that does the same; "short": our own program with much less to do. */
  readonly kind: "floor" | "short";
  readonly value: number;
}

export interface Row {
  readonly value: number;
  readonly base: Base | null;
  /** Of the value to its base. */
  readonly ratio: number | null;
  /** What the value is to stay within: fixed, or made from the base; null for a figure of the machine. */
  readonly limit: number | null;
  readonly unit: Unit;
}

/** Rows that are measured together. */
export interface Group {
  readonly names: readonly string[];
  measure(): Promise<Readonly<Record<string, Row>>>;
}

/** A group that measures exactly the rows that it names. */
export function group<const Name extends string>(
  names: readonly Name[],
  measure: () => Promise<Readonly<Record<Name, Row>>>,
): Group {
  return { names, measure };
}

type Limit = (base: number) => number;

/** @param limit of the floor, which is NaN where there is none */
export function row(unit: Unit, value: number, limit: Limit, floor?: number): Row {
  return comparedRow(unit, value, limit, floor === undefined ? null : { kind: "floor", value: floor });
}

/** @param short the same figure of our own program with much less to do */
export function growthRow(unit: Unit, value: number, limit: Limit, short: number): Row {
  return comparedRow(unit, value, limit, { kind: "short", value: short });
}

/** A figure of the machine, for comparisons with other machines. */
export function machineRow(unit: Unit, value: number): Row {
  return { value: rounded(value), base: null, ratio: null, limit: null, unit };
}

function comparedRow(unit: Unit, value: number, limit: Limit, base: Base | null): Row {
  return {
    value: rounded(value),
    base: base === null ? null : { ...base, value: rounded(base.value) },
    ratio: base === null || base.value === 0 ? null : rounded(value / base.value),
    limit: rounded(limit(base?.value ?? NaN)),
    unit,
  };
}

function rounded(value: number): number {
  return Math.round(value * 1_000) / 1_000;
}

export const atMost = (limit: number) => () => limit;
export const times = (factor: number) => (floor: number) => floor * factor;
export const over = (more: number) => (floor: number) => floor + more;

export function isOver({ value, limit, unit }: Row): boolean {
  return limit !== null && !(unit === "share" ? value >= limit : value <= limit);
}

export function median(values: readonly number[]): number {
  return percentile(values, 0.5);
}

/** @param share from 0 to 1 */
export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? NaN;
}

/** A line: bundles start faster than modules. */
export function origin(): string {
  const [engine = ""] = entryFiles(join(PROJECT, "denops/agent"), "engine");
  return isBundle(engine) ? "From the bundles." : "From the modules, not from bundles (deno task bundle).";
}

const HEAD = ["row", "value", "base", "ratio", "limit", "unit"] as const;

/** The table's head, or one row of it: 100 columns at most. A base with an "s" is that of our own short run. */
export function line(name?: string, shown?: Row): string {
  const cells = name === undefined || shown === undefined ? HEAD : [
    name,
    number(shown.value),
    number(shown.base?.value ?? null) + (shown.base?.kind === "short" ? " s" : ""),
    shown.ratio === null ? "" : shown.ratio.toFixed(2),
    number(shown.limit),
    shown.unit,
  ];
  const [first = "", ...rest] = cells;
  const unit = rest.pop() ?? "";
  const verdict = shown !== undefined && isOver(shown) ? "OVER" : "";
  return `${first.padEnd(30)}${rest.map((cell) => cell.padStart(11)).join("")}  ${unit.padEnd(6)} ${verdict}`
    .trimEnd();
}

function number(value: number | null): string {
  if (value === null) return "";
  return value.toFixed(value >= 1_000 ? 0 : value < 10 ? 3 : 1);
}
