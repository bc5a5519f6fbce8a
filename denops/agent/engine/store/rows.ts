/** Rows of a database that is imported: an older one, or a damaged one. */
import type { DatabaseSync, SQLOutputValue } from "node:sqlite";

export type SourceRow = Readonly<Record<string, SQLOutputValue>>;

export interface RowSource {
  /** Table → its columns. */
  readonly tables: ReadonlyMap<string, readonly string[]>;
  rows(table: string): Iterable<SourceRow>;
}

/** Reads an undamaged database. */
export class SqlRows implements RowSource {
  readonly tables: ReadonlyMap<string, readonly string[]>;
  readonly #connection: DatabaseSync;

  constructor(connection: DatabaseSync) {
    this.#connection = connection;
    const tables = connection.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").all();
    this.tables = new Map(tables.map(({ name }) => [String(name), columnsOf(connection, String(name))]));
  }

  rows(table: string): Iterable<SourceRow> {
    return this.#connection.prepare(`SELECT * FROM "${table}"`).iterate();
  }
}

function columnsOf(connection: DatabaseSync, table: string): readonly string[] {
  return connection.prepare("SELECT name FROM pragma_table_info(?)").all(table).map(({ name }) =>
    String(name)
  );
}
