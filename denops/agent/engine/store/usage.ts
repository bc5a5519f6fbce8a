/** Usage of requests, in SQLite, which also computes the sums. */
import { z } from "../../deps/zod.ts";
import { defined } from "../../shared/records.ts";
import type { CodeUse, RequestUsage, UsageLog, UsageReport } from "../ports/usage.ts";
import { nameNow } from "../calls/old_names.ts";
import type { Database } from "./database.ts";
import { SqliteEdits } from "./edits.ts";
import { saving } from "./saving.ts";

type Row = UsageReport["turns"][number];

/** Rows of each list. */
const MOST_TURNS = 20;
const MOST_AGENTS = 10;
const MOST_SESSIONS = 10;
const MOST_DAYS = 14;
const MOST_MODELS = 10;
/** The chart draws as many. */
const MOST_DAILY = 30;

const DAY = "date(time / 1000, 'unixepoch', 'localtime')";

/** Milliseconds of an answer; shorter ones say nothing about the model's speed. */
const LEAST_STREAM = 100;

/** Characters of a name. */
const LONGEST_NAME = 200;

const Tools = z.record(z.string(), z.int());
const Modes = z.array(z.string());

/**
 * Medians and 90th percentiles of each key. A turn lasts from the input of its first step to the answer of its last one.
 * The steps of a sub-agent belong to no turn but its own.
 */
const TIMES = `turn_spans AS (
         SELECT key, max(time) - min(time - all_ms - coalesce(ready_ms, 0)) AS ms FROM picked
         WHERE (ready_ms IS NOT NULL OR purpose = 'edit') AND (agent IS NULL OR agent = key)
         GROUP BY key, session, turn
       ),
       durations AS (
         SELECT key, 'first' AS kind, first_token_ms AS ms FROM picked WHERE first_token_ms IS NOT NULL
         UNION ALL SELECT key, 'request', all_ms FROM picked WHERE ready_ms IS NOT NULL
         UNION ALL SELECT key, 'turn', ms FROM turn_spans
       ),
       places AS (
         SELECT *, count(*) OVER (PARTITION BY key, kind) AS count,
           row_number() OVER (PARTITION BY key, kind ORDER BY ms) AS place
         FROM durations
       ),
       times AS (
         SELECT key, ${median("first")} AS first_token, ${median("request")} AS request_median,
           ${percentile("request")} AS request_most, ${median("turn")} AS turn_median, ${
  percentile("turn")
} AS turn_most,
           sum(ms) FILTER (WHERE kind = 'turn') AS turn_sum
         FROM places GROUP BY key
       )`;

function median(kind: string): string {
  return `avg(ms) FILTER (WHERE kind = '${kind}' AND place IN ((count + 1) / 2, (count + 2) / 2))`;
}

/** The 90th percentile by nearest rank. */
function percentile(kind: string): string {
  return `max(ms) FILTER (WHERE kind = '${kind}' AND place = (9 * count + 9) / 10)`;
}

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
    const step = "FROM usage WHERE session = ?1 AND turn = ?2 AND agent IS NULL AND build_ms IS NOT NULL " +
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
      models: this.#grouped("provider || '/' || model", MOST_MODELS, asItIs),
      daily: this.#daily(),
    };
  }

  #daily(): UsageReport["daily"] {
    const rows = this.#database.all(
      `WITH dated AS MATERIALIZED (
         SELECT ${DAY} AS day, provider || '/' || model AS model, input, cached_read, output, cost, reported FROM usage
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
    about: (key: string) => Pick<Row, "name" | "edits">,
    session?: string,
    which = "TRUE",
  ): Row[] {
    const rows = this.#database.all(
      `WITH picked AS MATERIALIZED (
         SELECT ${key} AS key, * FROM usage WHERE ${session === undefined ? "" : "session = ?1 AND "}${which}
       ),
       ${TIMES},
       sums AS (
         SELECT key, count(*) AS requests, sum(1 - reported) AS unreported, sum(input) AS input,
           sum(output) AS output, sum(cached_read) AS cached_read, sum(cached_write) AS cached_write,
           sum(cost) AS cost, sum(invalid_calls) AS invalid, avg(build_ms) AS build, avg(ready_ms) AS ready,
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
       SELECT * FROM sums LEFT JOIN times USING (key) LEFT JOIN calls USING (key) LEFT JOIN uses USING (key)
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

function rowOf(row: Readonly<Record<string, unknown>>, { name, edits }: Pick<Row, "name" | "edits">): Row {
  const cost = optional(row.cost);
  const firstToken = optional(row.first_token);
  const times = (median: unknown, most: unknown) =>
    typeof median === "number" && typeof most === "number" ? { median, most } : undefined;
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
    ...defined({
      time: optional(row.turn_sum),
      turnTimes: times(row.turn_median, row.turn_most),
      requestTimes: times(row.request_median, row.request_most),
      speed: optional(row.speed),
    }),
    copied: Number(row.copied ?? 0),
    applied: Number(row.applied ?? 0),
    ...(edits === undefined ? {} : { edits }),
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
