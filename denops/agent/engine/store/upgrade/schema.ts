/** Hashes of schemas. Some early schemas share a version number, so the number alone is not enough. */
import { createHash } from "node:crypto";
import type { Sql } from "../sql.ts";

/** Hashes of versions 1, 2 …, as the steps of migrations.ts make them. */
export const SCHEMAS: readonly string[] = [
  "d7df3174a9f1e5c2f4fa43f975c04f986edcef2d8ba3d7e667e711747fc7c2db",
  "be948ff3288d760a8bc61df5c1903005ebdb2a2466cc811d0ef2372d49edc176",
  "738c778be05e9e6ff57746990f9084c0d3aaaf86b07464abd213b4f45af2fd01",
  "4f997d801b46b3bd9c824a7feb61b7d1d6d99c9c1c6b428b38a1c872125e336e",
  "532832e5be46358145a6cad0ff411247fb75533df462dbc630bb649c78366b88",
  "00d218ee880788d08c4ceed697ead5a01bb14545956db63fdb6de334fba8513c",
  "269b365509fabe90d10ee24db6be5ec45f0a61db6fb3d8fc8edcb34748383dbc",
];

/** FTS5's own tables; their text depends on the version of SQLite. */
const SHADOW = /^search_(data|idx|content|docsize|config)$/;

/** SHA-256 in hexadecimal, without comments and white space; "" for a database without tables. */
export function schemaOf(database: Pick<Sql, "all">): string {
  const rows = database.all(
    `SELECT type, name, sql FROM sqlite_schema WHERE name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY type, name`,
  ).filter(({ name }) => !SHADOW.test(String(name)));
  if (rows.length === 0) return "";
  const text = rows.map(({ type, name, sql }) => `${type} ${name} ${plain(String(sql))}`).join("\n");
  return createHash("sha256").update(text).digest("hex");
}

function plain(sql: string): string {
  return sql.replace(/--[^\n]*/g, "").replace(/\s+/g, " ").replace(/ ?([(),]) ?/g, "$1").trim();
}
