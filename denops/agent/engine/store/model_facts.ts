/** Learned facts about models. */
import type { ModelFact, ModelFacts } from "../ports/store.ts";
import type { Database } from "./database.ts";

/** A full or locked disk must not fail a turn. */
function atBest<Result>(work: () => Result): Result | undefined {
  try {
    return work();
  } catch {
    return undefined;
  }
}

export class SqliteModelFacts implements ModelFacts {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  get({ provider, baseUrl, model, topic }: ModelFact, milliseconds: number): ReturnType<ModelFacts["get"]> {
    const sql =
      "SELECT value, time FROM model_facts WHERE provider = ? AND base_url = ? AND model = ? AND topic = ? " +
      "AND time BETWEEN ? AND ?";
    const now = Date.now();
    const place = [provider, baseUrl, model, topic];
    return atBest(() => {
      const row = this.#database.get(sql, ...place, now - milliseconds, now);
      return row === undefined ? undefined : { value: JSON.parse(String(row.value)), time: Number(row.time) };
    });
  }

  put({ provider, baseUrl, model, topic }: ModelFact, value: unknown): void {
    const sql = "INSERT OR REPLACE INTO model_facts (provider, base_url, model, topic, value, time) " +
      "VALUES (?, ?, ?, ?, ?, ?)";
    const row = [provider, baseUrl, model, topic, JSON.stringify(value), Date.now()];
    atBest(() => this.#database.run(sql, ...row));
  }
}
