/**
 * Plays sessions with the engine of an earlier commit and prints what its readers find in the database. make_schemas.ts
 * copies this file into tests/support/ of that commit's working tree. Types differ there, so all of it is untyped.
 */
// deno-lint-ignore-file no-explicit-any
import { gzipSync } from "node:zlib";
import { backup, DatabaseSync } from "node:sqlite";

const [out = "", name = ""] = Deno.args;
const at = (path: string) => import(new URL(path, import.meta.url).href);
const { Database } = await at("../../denops/agent/engine/store/database.ts");
const { SqliteStore } = await at("../../denops/agent/engine/store/sqlite.ts");
const { StoredSessions } = await at("../../denops/agent/engine/store/sessions.ts").catch(() => ({}));
const { startEngine } = await at("./engine_session.ts");

const live = await Deno.makeTempDir();
const kept = await Deno.makeTempDir();
/** Later engines open a database asynchronously. */
const connections: any[] = [];
for (let count = 0; count < 3; count += 1) connections.push(await Database.openIn(live));
Database.inMemory = () => {
  const opened = connections.pop();
  return opened.database ?? opened;
};

const long = "A long line of the file, said once more. ".repeat(80);
const answers = [
  'say I look.\ncall read_file {"path": "a.txt"}',
  'think Hm.\nsay I write.\ncall write_file {"path": "a.txt", "content": "two\\n"}',
  "say Written.",
  'call write_file {"path": "new.txt", "content": "made\\n"}',
  `say ${long}`,
  'call write_file {"path": "a.txt", "content": "three\\n"}',
  "say Changed again.",
  "status 401",
  'say Half an answer\ncall write_file {"path": ".env", "content": "KEY=2\\n"}',
];
const files = { "a.txt": "one\n", ".env": "KEY=1\n" };
const config = { title: false };
/** Nobody answers. */
const ask = () => new Promise(() => {});
const engine = await startEngine({ script: answers.join("\n---\n"), files, config, ask });
const { session, store } = engine;
const before: any = store ?? new SqliteStore(Database.inMemory());
for (const text of ["Question one\nwith a second line", `Question two: ${long}`, "Question three"]) {
  await engine.prompt(text);
}
session.toggleTool?.("think") ?? session.tools?.toggle?.("think");
await session.takeBack?.({ kind: "undo", turn: undefined });
await engine.prompt("Question four fails");
const [first] = before.checkpoints?.list("s1") ?? [];
if (before.reviews !== undefined && first !== undefined) {
  const [{ path, before: was, after }] = first.files;
  before.reviews.put({ path, session: "s1", turn: 1, before: was, after });
}
if (StoredSessions?.prototype.fork !== undefined) {
  const sessions = new StoredSessions(Database.inMemory());
  sessions.archive(sessions.fork("s1", 1).id, true);
  sessions.rename("s1", "A name of its own");
}
void engine.prompt("Question five is cut off").catch(() => {});
const isThere = (text: string) => JSON.stringify(before.events("s1")).includes(text);
while (!isThere("approval_requested")) await new Promise((resolve) => setTimeout(resolve, 20));

const source = new DatabaseSync(`${live}/agent.db`);
await backup(source, `${kept}/agent.db`);
{
  const copy = new DatabaseSync(`${kept}/agent.db`);
  copy.exec("PRAGMA journal_mode = DELETE; VACUUM");
  copy.close();
}
await Deno.writeFile(`${out}/${name}.db.gz`, gzipSync(await Deno.readFile(`${kept}/agent.db`), { level: 9 }));
const opened = await Database.openIn(kept);
await Deno.writeFile(`${out}/${name}.json.gz`, gzipSync(found(opened.database ?? opened), { level: 9 }));
Deno.exit(0);

function found(database: any): string {
  const store = new SqliteStore(database);
  const rows = database.all("SELECT * FROM sessions ORDER BY created, id");
  const ids: string[] = rows.map(({ id }: any) => id);
  const text = (snapshot: any) =>
    snapshot.type === "file" ? new TextDecoder().decode(store.blobs.get(snapshot.blob)) : snapshot.type;
  const perSession = (read: (id: string) => unknown) => Object.fromEntries(ids.map((id) => [id, read(id)]));
  return JSON.stringify(
    {
      sessions: rows.map(({ id, title, root, mode, model, archived, turns, parent }: any) => (
        { id, title, root, mode, model, archived, turns, parent }
      )),
      messages: perSession((id) => store.messages(id)),
      events: perSession((id) => store.events(id).map((one: any) => one.entry ?? one.event ?? one)),
      checkpoints: perSession((id) =>
        store.checkpoints?.list(id).map(({ files, alive: _, time: __, undoneBy, ...checkpoint }: any) => ({
          ...checkpoint,
          files: files.map((file: any) => ({
            path: file.path,
            before: text(file.before),
            after: text(file.after),
            undoneBy: file.undoneBy ?? undoneBy,
          })),
        })) ?? []
      ),
      reviews: store.reviews?.list().map((file: any) => ({
        path: file.path,
        session: file.session,
        turn: file.turn,
        before: text(file.before),
        after: text(file.after),
      })) ?? [],
      tools: perSession((id) => toolsOf(store, id)),
      usage: { ...database.get("SELECT count(*) AS requests, total(input) AS input FROM usage") },
      approvals: database.get("SELECT count(*) AS count FROM approvals").count,
    },
    undefined,
    1,
  );
}

/** Those that were switched by hand. */
function toolsOf(store: any, id: string): unknown {
  if (store.remembered === undefined) return store.memory?.(id).tools ?? {};
  const rows = store.remembered(id).filter(({ topic }: any) => topic === "tool");
  return Object.fromEntries(rows.map(({ name, value }: any) => [name, value]));
}
