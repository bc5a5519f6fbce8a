import assert from "node:assert/strict";
import fc from "fast-check";
import type { McpServer } from "./entries.ts";
import { filledIn, variablesOf } from "./templates.ts";
import { describeServer, McpTrust } from "./trust.ts";

const SERVER: McpServer = {
  name: "notes",
  file: ".mcp.json",
  entry: {
    cmd: ["npx", "-y", "notes"],
    env: { TOKEN: "${NOTES_TOKEN}" },
    hosts: ["a.example"],
    cache: "~/.npm",
  },
};

Deno.test("an approval is for exactly one entry of one project", async () => {
  const state = await Deno.makeTempDir();
  const trust = new McpTrust(state, "/project");
  assert.equal(await trust.hostsOf(SERVER), undefined);
  await trust.approve(SERVER);
  assert.deepEqual(await trust.hostsOf(SERVER), []);
  const { cmd, env, hosts, cache } = SERVER.entry;
  const same = { cache, hosts, env, cmd } as McpServer["entry"];
  assert.deepEqual(await new McpTrust(state, "/project").hostsOf({ ...SERVER, entry: same }), []);
  const others: readonly McpServer[] = [
    { ...SERVER, name: "other" },
    { ...SERVER, file: ".cursor/mcp.json" },
    { ...SERVER, file: undefined },
    { ...SERVER, entry: { ...SERVER.entry, cmd: ["npx", "-y", "notes", "-x"] } },
    { ...SERVER, entry: { ...SERVER.entry, cmd: ["npx", "-y notes"] } },
    { ...SERVER, entry: { ...SERVER.entry, hosts: ["a.example", "b.example"] } },
    { ...SERVER, entry: { ...SERVER.entry, env: { TOKEN: "${OTHER}" } } },
    { ...SERVER, entry: { ...SERVER.entry, sandbox: false } },
    { ...SERVER, entry: { ...SERVER.entry, cache: "~" } },
  ];
  for (const other of others) assert.equal(await trust.hostsOf(other), undefined, JSON.stringify(other));
  assert.equal(await new McpTrust(state, "/elsewhere").hostsOf(SERVER), undefined);
  await trust.approve(SERVER, ["b.example"]);
  assert.deepEqual(await trust.hostsOf(SERVER), ["b.example"]);
  await Deno.remove(state, { recursive: true });
});

Deno.test("the question names every field of an entry", () => {
  const lines = describeServer(SERVER).join("\n");
  for (
    const text of ["npx -y notes", ".mcp.json", "a.example", "~/.npm", "NOTES_TOKEN", "TOKEN=${NOTES_TOKEN}"]
  ) {
    assert.ok(lines.includes(text), text);
  }
  assert.match(
    describeServer({ ...SERVER, entry: { cmd: ["a"], sandbox: false } }).join("\n"),
    /WITHOUT a sandbox/,
  );
  assert.match(describeServer({ ...SERVER, entry: { cmd: ["a"] } }).join("\n"), /It has no network/);
  const hidden = describeServer({ ...SERVER, entry: { cmd: ["a", "b\nFrom your options.", "\u202ec"] } });
  assert.ok(!hidden.join("").includes("\u202e"));
  assert.equal(hidden[0]?.split("\n").length, 1, "a word cannot forge a line");
});

Deno.test("variables are filled in once, and an unset one is named", () => {
  const values = { environment: { A: "1", B: "${A}" }, root: "/p" };
  assert.equal(filledIn("x${A}y${env:A}z${C:-d}${workspaceFolder}", values), "x1y1zd/p");
  assert.equal(filledIn("${B}", values), "${A}");
  assert.throws(() => filledIn("${C}", values), /the variable C is not set/);
  assert.deepEqual(variablesOf({ cmd: ["${A}"], env: ["D"], headers: { h: "Bearer ${E:-x}" } }), [
    "D",
    "A",
    "E",
  ]);
  fc.assert(fc.property(fc.string(), (text) => {
    if (!text.includes("${")) assert.equal(filledIn(text, values), text);
  }));
});
