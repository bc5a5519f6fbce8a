/**
 * A server that sends the bytes of a file in tests/servers, write by write. A file begins with what is expected, then
 * come answers:
 *
 * ```text
 * end: done                       the job is done; else the line that the user reads
 * notice: TEXT                    what the user is told meanwhile, in this order
 * request 2: REGEX                matches the body of the second request for an answer
 * request 2 not: REGEX
 *
 * === POST /api/chat              answers to the same request follow each other, the last one is given again
 * 200
 * content-type: application/x-ndjson
 *
 * {"model":…}                     the body; each line ends with a line break unless "¬" is its last character
 * ~~~                             the next write begins
 * ~~~ drop                        the connection breaks off
 * ```
 *
 * What a file does not answer the file `model.txt` of its folder does, and 404 all else.
 */
import assert from "node:assert/strict";
import { dirname } from "node:path";
import { HttpConnection, type ReceivedRequest } from "../../denops/agent/scripted_model/http_connection.ts";
import { isObject, type JsonObject } from "../model/model_messages.ts";

interface Answer {
  readonly path: string;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly writes: readonly string[];
  readonly drops: boolean;
}

interface Play {
  readonly end: string;
  readonly notices: readonly string[];
  readonly checks: readonly {
    readonly request: number;
    readonly matches: boolean;
    readonly pattern: RegExp;
  }[];
  readonly answers: readonly Answer[];
}

export async function readPlay(file: string): Promise<Play> {
  const [head = "", ...answers] = (await Deno.readTextFile(file)).split(/^=== /m);
  const values = (name: RegExp) =>
    head.split("\n").flatMap((line) => {
      const found = name.exec(line);
      return found === null ? [] : [[...found.slice(1), line.slice(found[0].length)]];
    });
  return {
    end: values(/^end: /)[0]?.[0] ?? "",
    notices: values(/^notice: /).map(([text = ""]) => text),
    checks: values(/^request (\d+)( not)?: /).map(([number, not, pattern = ""]) => ({
      ...{ request: Number(number), matches: not === undefined, pattern: new RegExp(pattern) },
    })),
    answers: answers.map(parseAnswer),
  };
}

function parseAnswer(text: string): Answer {
  const blank = text.indexOf("\n\n");
  const [path = "", status, ...headers] = text.slice(0, blank).split("\n");
  const body = text.slice(blank + 2).replace(/\n\n$/, "\n");
  const drops = /^~~~ drop\n?$/m.test(body);
  return {
    path,
    status: Number(status),
    headers: Object.fromEntries(headers.map((line) => line.split(/: (.*)/, 2))),
    writes: body.replace(/^~~~ drop\n?$/m, "").split(/^~~~\n/m).map((part) => part.replaceAll("¬\n", "")),
    drops,
  };
}

export interface PlayedServer extends AsyncDisposable {
  readonly url: string;
  /** The bodies of the requests for an answer. */
  readonly bodies: readonly JsonObject[];
}

/** @param size bytes of each write, whatever the file says */
export async function servePlay(file: string, size?: number): Promise<PlayedServer> {
  const { answers } = await readPlay(file);
  const { answers: common } = await readPlay(`${dirname(file)}/model.txt`);
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const connections = new Set<HttpConnection>();
  const given = new Map<string, number>();
  const bodies: JsonObject[] = [];

  async function answer(http: HttpConnection, { method, path, body }: ReceivedRequest): Promise<void> {
    const asked = `${method} ${path.replace(/\?.*$/, "")}`;
    const own = answers.filter((one) => one.path === asked);
    const fitting = own.length > 0 ? own : common.filter((one) => one.path === asked);
    const before = given.get(asked) ?? 0;
    given.set(asked, before + 1);
    const next = fitting[Math.min(before, fitting.length - 1)];
    if (/\/(?:completions|chat)$/.test(asked)) {
      const value: unknown = JSON.parse(body);
      assert.ok(isObject(value));
      bodies.push(value);
    }
    if (next === undefined) {
      return await http.respond(404, { "content-type": "text/plain" }, "404 page not found");
    }
    await http.begin(next.status, next.headers);
    for (const bytes of cut(next.writes, size)) await http.write(bytes);
    if (next.drops) return http[Symbol.dispose]();
    await http.end();
  }

  async function serve(conn: Deno.Conn): Promise<void> {
    using http = new HttpConnection(conn);
    connections.add(http);
    for (let request; (request = await http.next()) !== undefined;) await answer(http, request);
  }

  const serving: Promise<void>[] = [];
  const accepting = (async () => {
    for await (const conn of listener) serving.push(serve(conn).catch(() => {}));
  })();
  return {
    url: `http://127.0.0.1:${listener.addr.port}`,
    bodies,
    async [Symbol.asyncDispose]() {
      listener.close();
      for (const http of connections) http[Symbol.dispose]();
      await accepting;
      await Promise.all(serving);
    },
  };
}

function cut(writes: readonly string[], size: number | undefined): readonly Uint8Array[] {
  const encoder = new TextEncoder();
  if (size === undefined) return writes.map((write) => encoder.encode(write));
  const all = encoder.encode(writes.join(""));
  return Array.from(
    { length: Math.ceil(all.length / size) },
    (_, at) => all.subarray(at * size, (at + 1) * size),
  );
}
