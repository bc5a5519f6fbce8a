/** Usage of requests, in SQLite, which also computes the sums. */
import * as z from "../../deps/zod.ts";
import { defined } from "../../shared/records.ts";
import type { CodeUse, RequestUsage, UsageLog, UsageReport } from "../ports/usage.ts";
import { nameNow } from "../calls/old_names.ts";
import type { Database } from "./database.ts";
import { SqliteEdits } from "./edits.ts";
import { saving } from "./saving.ts";

type Row = UsageReport["turns"][number];
/** Facts of a row beside its sums. */
type RowFacts = Pick<Row, "name" | "edits" | "turnTimes" | "requestTimes">;

/** Rows of each list. */
const MOST_TURNS = 20;
const MOST_AGENTS = 10;
const MOST_SESSIONS = 10;
const MOST_DAYS = 14;
const MOST_MODELS = 10;
/** The chart draws as many. */
const MOST_DAILY = 30;

const DAY = "date(time / 1000, 'unixepoch', 'localtime')";

/** Requests whose times are compared. */
const MOST_TIMED = 5_000;

/** Milliseconds of an answer; shorter ones say nothing about the model's speed. */
const LEAST_STREAM = 100;

/** Characters of a name. */
const LONGEST_NAME = 200;

const Tools = z.record(z.string(), z.int());
const Modes = z.array(z.string());

const MODEL = "provider || '/' || model";

/**
 * A turn lasts from the input of its first step to the answer of its last one. The steps of a sub-agent belong to no turn
 * but its own.
 */
const TURN_SPANS = `SELECT key, max(time) - min(time - all_ms - coalesce(ready_ms, 0)) AS ms FROM picked
         WHERE (ready_ms IS NOT NULL OR purpose = 'edit') AND (agent IS NULL OR agent = key)
         GROUP BY key, session, turn`;

/** Tokens a second between the first and the last token. */
const SPEED = (() => {
  const streamed = `FILTER (WHERE reported AND all_ms - first_token_ms >= ${LEAST_STREAM})`;
  return `1000.0 * sum(output) ${streamed} / sum(all_ms - first_token_ms) ${streamed}`;
})();

/** Edits in place apply what the model wrote, too. */
const CODE_USES = `SELECT session, turn, provider, model, use, time, NULL AS agent FROM code_uses
  UNION ALL
  SELECT session, turn, provider, model, 'applied', time, NULL
  FROM (SELECT DISTINCT session, turn FROM usage WHERE purpose = 'edit') JOIN edits USING (session, turn) WHERE written`;

export class SqliteUsage implements UsageLog {
  readonly edits: SqliteEdits;
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
    this.edits = new SqliteEdits(database);
  }

  record(session: string, turn: number, request: RequestUsage): void {
    const { usage } = request;
    saving(() =>
      this.#database.run(
        `INSERT INTO usage (session, turn, purpose, provider, model, reported, input, output, cached_read,
       cached_write, cost, first_token_ms, all_ms, tools, invalid_calls, agent, offered, build_ms, ready_ms, messages,
       time)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
        session,
        turn,
        request.purpose,
        request.provider,
        request.model,
        usage === undefined ? 0 : 1,
        usage?.input ?? 0,
        usage?.output ?? 0,
        usage?.cachedRead ?? 0,
        usage?.cachedWrite ?? 0,
        request.cost ?? null,
        request.firstToken ?? null,
        request.duration,
        JSON.stringify(request.tools),
        request.invalidCalls,
        request.agent ?? null,
        request.offered,
        request.prompt?.build ?? null,
        request.prompt?.ready ?? null,
        request.prompt?.messages ?? null,
        Date.now(),
      )
    );
  }

  used(session: string, turn: number, use: CodeUse): void {
    const step = "FROM usage WHERE session = ?1 AND turn = ?2 AND agent IS NULL AND ready_ms IS NOT NULL " +
      "ORDER BY id DESC LIMIT 1";
    this.#database.run(
      `INSERT INTO code_uses (session, turn, provider, model, use, time)
       VALUES (?1, ?2, coalesce((SELECT provider ${step}), ''), coalesce((SELECT model ${step}), ''), ?3, ?4)`,
      ...[session, turn, use, Date.now()],
    );
  }

  cost(session: string): number | undefined {
    return optional(
      this.#database.get("SELECT sum(cost) AS cost FROM usage WHERE session = ?", session)?.cost,
    );
  }

  report(session: string | undefined): UsageReport {
    const asItIs = (name: string) => ({ name });
    return {
      turns: session === undefined ? [] : this.#turns(session),
      agents: session === undefined ? [] : this.#agents(session),
      edits: [...this.edits.report()],
      languages: [...this.edits.languages()],
      sessions: this.#grouped("session", MOST_SESSIONS, (id) => ({ name: this.#sessionName(id) })),
      days: this.#grouped(DAY, MOST_DAYS, asItIs),
      models: this.#models(),
      daily: this.#daily(),
    };
  }

  #models(): Row[] {
    const times = this.#times();
    return this.#grouped(MODEL, MOST_MODELS, (name) => ({ name, ...times.get(name) }));
  }

  /** Medians and 90th percentiles by nearest rank, by model, of the newest requests. */
  #times(): ReadonlyMap<string, Pick<Row, "turnTimes" | "requestTimes">> {
    const rows = this.#database.all(
      `WITH picked AS MATERIALIZED (SELECT ${MODEL} AS key, * FROM usage ORDER BY id DESC LIMIT ${MOST_TIMED}),
       durations AS (
         SELECT key, 'turnTimes' AS kind, ms FROM (${TURN_SPANS})
         UNION ALL SELECT key, 'requestTimes', all_ms FROM picked WHERE ready_ms IS NOT NULL
       ),
       places AS (
         SELECT key, kind, ms, count(*) OVER (PARTITION BY key, kind) AS count,
           row_number() OVER (PARTITION BY key, kind ORDER BY ms) AS place
         FROM durations
       )
       SELECT key, kind, avg(ms) FILTER (WHERE place IN ((count + 1) / 2, (count + 2) / 2)) AS median,
         max(ms) FILTER (WHERE place = (9 * count + 9) / 10) AS most
       FROM places GROUP BY key, kind`,
    );
    const byModel = Map.groupBy(rows, ({ key }) => String(key));
    return new Map([...byModel].map(([model, kinds]) => [
      model,
      Object.fromEntries(
        kinds.map(({ kind, median, most }) => [kind, { median: Number(median), most: Number(most) }]),
      ),
    ]));
  }

  #daily(): UsageReport["daily"] {
    const rows = this.#database.all(
      `WITH dated AS MATERIALIZED (
         SELECT ${DAY} AS day, ${MODEL} AS model, input, cached_read, output, cost, reported FROM usage
       )
       SELECT day, model, sum(input) AS input, sum(cached_read) AS cached_read, sum(output) AS output,
         CASE WHEN sum(reported AND cost IS NULL) = 0 THEN total(cost) END AS cost
       FROM dated WHERE day IN (SELECT DISTINCT day FROM dated ORDER BY day DESC LIMIT ${MOST_DAILY})
       GROUP BY day, model ORDER BY day DESC, model`,
    );
    return rows.map((row) => ({
      day: String(row.day),
      model: oneLine(String(row.model)),
      input: Number(row.input),
      cachedRead: Number(row.cached_read),
      output: Number(row.output),
      ...defined({ cost: optional(row.cost) }),
    }));
  }

  /** Sub-agents, which the sums of their turns include. */
  #agents(session: string): Row[] {
    const about = (id: string) => ({ name: this.#sessionName(id) });
    return this.#grouped("agent", MOST_AGENTS, about, session, "agent IS NOT NULL");
  }

  #turns(session: string): Row[] {
    const edits = this.edits.turns(session);
    return this.#grouped("turn", MOST_TURNS, (turn) => ({
      name: this.#turnName(session, Number(turn)),
      edits: edits.get(Number(turn)),
    }), session);
  }

  /** @param key SQL that groups requests @param about facts beside the sums @param which SQL that selects them */
  #grouped(
    key: string,
    most: number,
    about: (key: string) => RowFacts,
    session?: string,
    which = "TRUE",
  ): Row[] {
    const rows = this.#database.all(
      `WITH picked AS MATERIALIZED (
         SELECT ${key} AS key, * FROM usage WHERE ${session === undefined ? "" : "session = ?1 AND "}${which}
       ),
       places AS (
         SELECT key, first_token_ms AS ms, count(*) OVER (PARTITION BY key) AS count,
           row_number() OVER (PARTITION BY key ORDER BY first_token_ms) AS place
         FROM picked WHERE first_token_ms IS NOT NULL
       ),
       medians AS (
         SELECT key, avg(ms) AS first_token FROM places
         WHERE place IN ((count + 1) / 2, (count + 2) / 2) GROUP BY key
       ),
       times AS (SELECT key, sum(ms) AS turn_sum FROM (${TURN_SPANS}) GROUP BY key),
       sums AS (
         SELECT key, count(*) AS requests, sum(1 - reported) AS unreported, sum(input) AS input,
           sum(output) AS output, sum(cached_read) AS cached_read, sum(cached_write) AS cached_write,
           sum(cost) AS cost, sum(invalid_calls) AS invalid, avg(build_ms) AS build, avg(ready_ms) FILTER (WHERE build_ms IS NOT NULL) AS ready,
           max(offered) AS offered, max(messages) AS messages, count(DISTINCT session || turn) AS turns,
           json_group_array(DISTINCT purpose) AS modes, max(id) AS newest, ${SPEED} AS speed
         FROM picked GROUP BY key ORDER BY newest DESC LIMIT ${most}
       ),
       calls AS (
         SELECT key, json_group_object(tool, count) AS tools FROM (
           SELECT picked.key AS key, each.key AS tool, sum(each.value) AS count
           FROM picked, json_each(picked.tools) AS each GROUP BY 1, 2
         ) GROUP BY key
       ),
       uses AS (
         SELECT ${key} AS key, sum(use = 'copied') AS copied, sum(use = 'applied') AS applied
         FROM (${CODE_USES}) ${session === undefined ? "" : "WHERE session = ?1"} GROUP BY 1
       )
       SELECT * FROM sums LEFT JOIN medians USING (key) LEFT JOIN times USING (key) LEFT JOIN calls USING (key)
         LEFT JOIN uses USING (key)
       ORDER BY newest DESC`,
      ...(session === undefined ? [] : [session]),
    );
    return rows.map((row) => rowOf(row, about(String(row.key))));
  }

  #turnName(session: string, turn: number): string {
    const sql = "SELECT asked FROM turns WHERE session = ? AND turn = ?";
    return String(this.#database.get(sql, session, turn)?.asked ?? "");
  }

  #sessionName(id: string): string {
    const row = this.#database.get("SELECT title FROM sessions WHERE id = ? AND deleted = 0", id);
    if (row === undefined) return "(deleted)";
    return row.title === "" ? this.#turnName(id, 1) : String(row.title);
  }
}

function rowOf(row: Readonly<Record<string, unknown>>, { name, ...facts }: RowFacts): Row {
  const cost = optional(row.cost);
  const firstToken = optional(row.first_token);
  const [build, ready] = [optional(row.build), optional(row.ready)];
  return {
    name: oneLine(name),
    requests: Number(row.requests),
    unreported: Number(row.unreported),
    input: Number(row.input),
    output: Number(row.output),
    cachedRead: Number(row.cached_read),
    cachedWrite: Number(row.cached_write),
    ...(cost === undefined ? {} : { cost }),
    ...(firstToken === undefined ? {} : { firstToken }),
    tools: typeof row.tools === "string" ? underNamesNow(Tools.parse(JSON.parse(row.tools))) : [],
    invalid: Number(row.invalid),
    turns: Number(row.turns),
    messages: Number(row.messages ?? 0),
    offered: Number(row.offered ?? 0),
    modes: typeof row.modes === "string" ? Modes.parse(JSON.parse(row.modes)) : [],
    ...(build === undefined || ready === undefined ? {} : { prompt: { build, ready } }),
    ...defined({ time: optional(row.turn_sum), speed: optional(row.speed) }),
    copied: Number(row.copied ?? 0),
    applied: Number(row.applied ?? 0),
    ...defined(facts),
  };
}

/** Calls under old names count with the current ones. */
function underNamesNow(tools: Readonly<Record<string, number>>): Row["tools"] {
  const counts = new Map<string, number>();
  for (const [name, count] of Object.entries(tools)) {
    counts.set(nameNow(name), (counts.get(nameNow(name)) ?? 0) + count);
  }
  return [...counts].map(([name, count]) => ({ name, count }));
}

function optional(value: unknown): number | undefined {
  return typeof value === "number" ? value : undefined;
}

function oneLine(text: string): string {
  return (text.trim().split("\n")[0] ?? "").slice(0, LONGEST_NAME).toWellFormed();
}
