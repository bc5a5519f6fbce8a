import assert from "node:assert/strict";
import { join } from "node:path";
import { mcpServers } from "./entries.ts";

const HOME = await Deno.makeTempDir();
const place = (root: string) => ({ roots: [root], stateDir: `${HOME}/state`, environment: { HOME } });

async function project(files: Readonly<Record<string, string>>): Promise<string> {
  const root = await Deno.realPath(await Deno.makeTempDir());
  for (const [name, text] of Object.entries(files)) {
    await Deno.mkdir(join(root, name, ".."), { recursive: true });
    await Deno.writeTextFile(join(root, name), text);
  }
  return root;
}

Deno.test("the options' entry wins, then the first file's; each keeps its source", async () => {
  const root = await project({
    ".mcp.json": JSON.stringify({
      mcpServers: {
        one: { command: "a", args: ["-y", "b"], env: { PORT: 1 } },
        two: { type: "http", url: "https://mcp.example/x", headers: { A: "b" } },
      },
    }),
    ".vscode/mcp.json":
      `{ // with comments\n "servers": { "three": { "command": "c", }, "one": { "command": "z" } } }`,
    ".cursor/mcp.json": JSON.stringify({
      mcpServers: { four: { command: "d", disabled: true, hosts: ["a.b"] } },
    }),
  });
  const { servers, problems } = await mcpServers({ two: { cmd: ["mine"] } }, place(root));
  assert.deepEqual(problems, []);
  assert.deepEqual(Object.fromEntries([...servers].map(([name, { entry, file }]) => [name, [file, entry]])), {
    two: [undefined, { cmd: ["mine"] }],
    one: [".mcp.json", { cmd: ["a", "-y", "b"], env: { PORT: "1" } }],
    three: [".vscode/mcp.json", { cmd: ["c"] }],
    four: [".cursor/mcp.json", { cmd: ["d"], hosts: ["a.b"], off: true }],
  });
  await Deno.remove(root, { recursive: true });
});

Deno.test("a bad entry is named with its reason, and the others stay", async () => {
  const root = await project({
    ".mcp.json": JSON.stringify({
      mcpServers: {
        "good": { command: "a" },
        "two words": { command: "a" },
        "both": { command: "a", url: "https://x.y" },
        "neither": {},
        "host": { command: "a", hosts: ["https://x/"] },
        "file": { url: "file:///etc/passwd" },
        "input": { command: "a", args: ["${input:token}"] },
        "variable": { url: "https://${SECRET}.evil.example/mcp" },
        "header": { url: "https://a.b/", headers: { A: "b\r\nc: d" } },
        "home": { command: "a", cache: "~" },
        "ssh": { command: "a", cache: "~/.ssh" },
        "dots": { command: "a", cache: "~/.cache/../.ssh" },
        "link": { command: "a", cache: "${PWD}/.cache/lnk" },
        "deep": { command: "a", cache: "~/.cache/a/b" },
        "whole": { command: "a", cache: "~/.cache" },
        "inside": { command: "a", cache: "~/.cache/project" },
        "fine": { command: "a", cache: "~/.cache/uv", env: { A: "${env:B}", C: "${D:-e}" } },
      },
    }),
    ".vscode/mcp.json": '{ "servers": { "cut": { "command": "node"',
    ".cursor/mcp.json": JSON.stringify({ mcpServers: [] }),
  });
  await Deno.mkdir(join(HOME, ".cache"), { recursive: true });
  await Deno.symlink(root, join(HOME, ".cache/project"));
  const { servers, problems } = await mcpServers({}, place(root));
  assert.deepEqual([...servers.keys()], ["good", "fine"]);
  assert.equal(problems.length, 17);
  for (
    const text of ["input:token", "host of its url", "a header has", "ssh", "dots", "link", "deep", "whole"]
  ) {
    assert.ok(problems.some((problem) => problem.includes(text)), text);
  }
  for (
    const text of ["two words", "both", "neither", "host", "file", ".vscode/mcp.json", ".cursor/mcp.json"]
  ) {
    assert.ok(problems.some((problem) => problem.includes(text)), text);
  }
  await Deno.remove(root, { recursive: true });
});

Deno.test("a link out of the project, and one into git's folder, give no servers", async () => {
  const json = JSON.stringify({ mcpServers: { evil: { command: "a" } } });
  const outside = await project({ "mcp.json": json });
  const root = await project({ ".git/mcp.json": json, ".vscode/x": "", ".cursor/x": "" });
  await Deno.symlink(join(outside, "mcp.json"), join(root, ".mcp.json"));
  await Deno.symlink(join(root, ".git/mcp.json"), join(root, ".cursor/mcp.json"));
  const { servers, problems } = await mcpServers({}, place(root));
  assert.equal(servers.size, 0);
  assert.match(problems.join("\n"), /\.mcp\.json: it leads out of the project[^]*it leads to a file of git/);
  for (const folder of [outside, root]) await Deno.remove(folder, { recursive: true });
});
