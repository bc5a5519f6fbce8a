/** The interface for SQL. */
import type { SQLInputValue } from "node:sqlite";

export interface Sql {
  run(sql: string, ...values: SQLInputValue[]): { changes: number; lastInsertRowid: number };
  get(sql: string, ...values: SQLInputValue[]): Readonly<Record<string, unknown>> | undefined;
  all(sql: string, ...values: SQLInputValue[]): readonly Readonly<Record<string, unknown>>[];
  /** Statements that begin or end a transaction, make tables or set something. */
  exec(sql: string): void;
  /** All or nothing; one inside another belongs to the outer one. */
  transaction<Result>(work: () => Result): Result;
  readonly isTransaction: boolean;
}
