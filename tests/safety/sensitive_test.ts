/** What is sensitive asks with its reason, also in an engine that no client of ours has configured. */
import assert from "node:assert/strict";
import { ApprovalMeta, ours } from "../../denops/agent/protocol/extensions.ts";
import { hookFolders } from "../../denops/agent/supervisor/git/hooks.ts";
import { engineConfig, startEngine } from "../support/acp.ts";
import { messagesOf } from "../model/model_messages.ts";
import { ModelServer } from "../model/model_server.ts";
import { git, scratch } from "../support/project.ts";

const LINKED = "it has other names (hard links), which may lie outside of the project";
const REPOSITORY = "git takes its folder for a repository, and runs what such a folder names";

/** Files to write → why that asks. */
const WRITES: readonly (readonly [path: string, reason: string | undefined])[] = [
  ["src/a.ts", undefined],
  [".husky/pre-commit", "git runs it automatically"],
  ["node_modules/a/index.js", "your tools run what is in it"],
  [".env.example", "it may hold secrets"],
  ["linked.txt", LINKED],
  ["almost/objects/a", undefined],
  ["almost/config", undefined],
  ["almost/refs/heads/a", undefined],
  // The last of three.
  ["almost/HEAD", REPOSITORY],
  ["almost/hooks/post-checkout", REPOSITORY],
  ["almost/config", REPOSITORY],
  ["fixture.git/config", REPOSITORY],
  ["fixture.git/deep/er", REPOSITORY],
  ["HEAD", undefined],
];

Deno.test({
  name: "what a model writes to be run by the user's tools is asked about, with the reason",
  ignore: Deno.build.os === "windows",
  async fn() {
    const calls = WRITES.map(([path]) =>
      `call write_file ${JSON.stringify({ path, content: `new ${path}` })}`
    );
    // What is there must be read first.
    const reads = ["linked.txt", "fixture.git/config", ".env"].map((path) =>
      `call read_file ${JSON.stringify({ path })}`
    );
    await using outside = await scratch({ "a.txt": "outside\n" });
    await using server = await ModelServer.start([...reads, ...calls, "say Done."].join("\n---\n"));
    const { safe_to_write: _, deny_read: __, ...config } = engineConfig(server);
    await using project = await scratch({ ".env": "A=hunter2\n" });
    await using state = await scratch();
    await git(project.root, "init", "--quiet", "--bare", "fixture.git");
    await Deno.link(outside.path("a.txt"), project.path("linked.txt"));
    const asked = new Map<string, string | undefined>();
    await using engine = await startEngine({
      script: "",
      beside: { project, state, server },
      config: JSON.stringify(config),
      permission: (request) => {
        const meta = ours(ApprovalMeta, request._meta);
        asked.set(request.toolCall.toolCallId, meta?.reason);
        return Promise.resolve({ outcome: { outcome: "selected", optionId: "allow_once" } });
      },
    });
    await engine.prompt(await engine.open(), "Go on.");
    const last = server.requests.at(-1);
    assert.ok(last !== undefined);
    const results = messagesOf(last.wire, last.body).flatMap(({ results }) => results);
    assert.match(results[2]?.text ?? "", /^Cannot read \.env: .+deny_read: \*\*\/\.env\)\.$/);
    for (const [index, [path, reason]] of WRITES.entries()) {
      const { id = "", text = "" } = results[index + reads.length] ?? {};
      assert.match(text, /^(Created|Replaced|Wrote|Rewrote)/, `${path}: ${text}`);
      assert.equal(
        asked.get(id),
        reason === undefined ? undefined : `${path} needs your approval: ${reason}`,
        path,
      );
    }
    assert.equal(await outside.read("a.txt"), "outside\n");
  },
});

Deno.test("the folder that core.hooksPath names is sensitive, also by an include, also from a folder below", async () => {
  await using plain = await scratch({ "a.txt": "a\n" }, { git: true });
  await using other = await scratch({ "b.txt": "b\n", "deep/c.txt": "c\n" }, { git: true });
  const folders = async (first = plain.root, second = other.root) =>
    (await hookFolders([first, second])).map(({ glob, safe }) => [glob, safe]);
  assert.deepEqual(await folders(), []);
  await git(plain.root, "config", "core.hooksPath", "tools/[hooks]");
  await git(other.root, "config", "core.hooksPath", other.path("deep/scripts"));
  const name = other.root.split("/").at(-1);
  assert.deepEqual(await folders(), [["tools/\\[hooks\\]/**", false], [`${name}/deep/scripts/**`, false]]);
  assert.deepEqual(await folders(plain.root, other.path("deep")), [["tools/\\[hooks\\]/**", false], [
    "deep/scripts/**",
    false,
  ]]);
  // Outside of the project, and the project itself, are not its folders.
  await git(plain.root, "config", "core.hooksPath", "../hooks");
  await git(other.root, "config", "core.hooksPath", ".");
  assert.deepEqual(await folders(), []);
  await git(plain.root, "config", "--unset", "core.hooksPath");
  await plain.write(".git/more", "[include]\n\tpath = more\n[core]\n\thooksPath = included\n");
  await git(plain.root, "config", "includeIf.gitdir:/nowhere/.path", "more");
  assert.deepEqual(await folders(), [["included/**", false]]);
});
