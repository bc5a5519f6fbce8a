/** The user's rules on files hold for every file tool, whether a file is sensitive or not. */
import assert from "node:assert/strict";
import { OPTION } from "../../denops/agent/protocol/extensions.ts";
import { messagesOf } from "../model/model_messages.ts";
import { ModelServer } from "../model/model_server.ts";
import { DENO, openProject } from "../support/engine.ts";
import { scratch } from "../support/project.ts";

const RULES = {
  allow: ["write(docs/**)", "write(.env)"],
  ask: ["write(docs/api/**)", "write(README.md)"],
  deny: ["write(src/**)", "read(private/**)"],
};

const FORBIDDEN = /^Not allowed: denied by rule write\(src\/\*\*\)\.$/;
const UNREADABLE = /^Cannot read .+: denied by rule read\(private\/\*\*\)\.$/;
const NEW = { content: "written by the model\n" };

interface Case {
  readonly call: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly says: RegExp;
  /** Whether the user, who allows everything, is asked. */
  readonly asks: boolean;
}

const CASES: readonly Case[] = [
  { call: "write_file", args: { path: "src/new.ts", ...NEW }, says: FORBIDDEN, asks: false },
  { call: "write_file", args: { path: "SRC/new.ts", ...NEW }, says: /^Not allowed: /, asks: false },
  { call: "write_file", args: { path: "link/new.ts", ...NEW }, says: FORBIDDEN, asks: false },
  { call: "read_file", args: { path: "src/a.ts" }, says: /^1\ta$/, asks: false },
  { call: "edit_file", args: { path: "src/a.ts", old_str: "a", new_str: "b" }, says: FORBIDDEN, asks: false },
  { call: "delete_file", args: { path: "src/a.ts" }, says: FORBIDDEN, asks: false },
  { call: "move_file", args: { from: "src/a.ts", to: "b.ts" }, says: FORBIDDEN, asks: false },
  { call: "move_file", args: { from: "other.ts", to: "src/b.ts" }, says: FORBIDDEN, asks: false },
  { call: "write_file", args: { path: "docs/new.md", ...NEW }, says: /^Created/, asks: false },
  { call: "write_file", args: { path: "docs/api/new.md", ...NEW }, says: /^Created/, asks: true },
  { call: "write_file", args: { path: "README.md", ...NEW }, says: /^Created/, asks: true },
  { call: "write_file", args: { path: "other/new.md", ...NEW }, says: /^Created/, asks: false },
  { call: "write_file", args: { path: ".env", ...NEW }, says: /^Created/, asks: false },
  { call: "read_file", args: { path: "private/notes.txt" }, says: UNREADABLE, asks: false },
  { call: "read_file", args: { path: "notes.txt" }, says: UNREADABLE, asks: false },
  { call: "list_directory", args: { path: "private" }, says: UNREADABLE, asks: false },
  { call: "list_directory", args: { path: "." }, says: /^(?!.*private\/).*src\//s, asks: false },
  { call: "search_workspace", args: { query: "nobody" }, says: /^Nothing was found\.$/, asks: false },
  { call: "find_files", args: { query: "notes" }, says: /^No file was found\.$/, asks: false },
];

Deno.test({
  name: "rules on files",
  ignore: Deno.build.os === "windows",
  async fn() {
    await using base = await scratch({
      "proj/src/a.ts": "a\n",
      "proj/other.ts": "other\n",
      "proj/private/notes.txt": "nobody's business\n",
      "state/.keep": "",
    });
    await Deno.symlink("src", base.path("proj/link"));
    await Deno.symlink("private/notes.txt", base.path("proj/notes.txt"));
    const script = CASES.map(({ call, args }) => `call ${call} ${JSON.stringify(args)}`).join("\n---\n");
    await using server = await ModelServer.start(`${script}\n---\nsay That was all.`);
    const setup = { level: DENO, root: base.path("proj"), stateDir: base.path("state"), rules: RULES };
    await using project = await openProject({ ...setup, baseUrl: `${server.url}/v1` }, OPTION.allowOnce);
    await project.play("Go on.");

    const last = server.requests.at(-1);
    assert.ok(last !== undefined);
    const results = messagesOf(last.wire, last.body).flatMap(({ results }) => results);
    for (const [index, { call, args, says, asks }] of CASES.entries()) {
      const result = results[index];
      const name = `${call} ${JSON.stringify(args)}`;
      assert.match(result?.text ?? "", says, name);
      assert.equal(project.asked.some(({ tool }) => tool === result?.id), asks, `${name} asks`);
    }
  },
});
