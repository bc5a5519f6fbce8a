/** Names, schemas and descriptions of tools: whatever a server sends, they are bounded, unique and readable. */
import assert from "node:assert/strict";
import fc from "fast-check";
import { namedTools, toolList } from "./tool_list.ts";
import { namesOf } from "./tool_names.ts";

const OBJECT = { type: "object", properties: {} };

function tool(name: unknown, more: Record<string, unknown> = {}) {
  return { name, description: "Does it.", inputSchema: OBJECT, ...more };
}

/** The problem of a tool that is left out, or its names for models. */
function outcome(...rows: readonly unknown[]): readonly string[] {
  const { tools, problems } = toolList("fs", rows);
  return problems.length > 0 ? problems : namedTools(tools).map(({ name }) => name);
}

Deno.test("names are plain, short and unique, and do not depend on the order", () => {
  const names = (...tools: readonly string[]) => namesOf(tools.map((tool) => ({ server: "fs", tool })));
  assert.deepEqual(names("read"), ["fs__read"]);
  assert.deepEqual(names("read.file", "größe"), ["fs__read_file", "fs__gr_e"]);
  assert.deepEqual(names("日本"), ["fs__tool"]);
  const [exact, dotted] = names("a_b", "a.b");
  assert.equal(exact, "fs__a_b");
  assert.match(dotted ?? "", /^fs__a_b_[0-9a-z]{6}$/);
  assert.deepEqual(names("a.b", "a_b"), [dotted, exact]);
  assert.equal(new Set(names("a.b", "a b", "a/b")).size, 3);
  const [one = "", other = ""] = names("x".repeat(100), `${"x".repeat(100)}y`);
  assert.ok(one.length <= 64 && other.length <= 64 && one !== other);
});

Deno.test("tools of two servers whose names would be equal differ", () => {
  const names = namesOf([{ server: "a", tool: "b__c" }, { server: "a__b", tool: "c" }]);
  assert.equal(new Set(names).size, 2);
  assert.ok(names.every((name) => name.startsWith("a__b__c_")));
});

Deno.test("any names become valid, unique names", () => {
  const names = fc.uniqueArray(fc.string({ unit: "grapheme", maxLength: 100 }), { maxLength: 20 });
  fc.assert(fc.property(names, (tools) => {
    const found = namesOf(tools.map((tool) => ({ server: "s", tool })));
    assert.equal(new Set(found).size, tools.length);
    assert.ok(found.every((name) => /^[A-Za-z0-9_-]{1,64}$/.test(name)));
  }));
});

Deno.test("misleading names, repeated names and rows that are no tools are left out with a line", () => {
  assert.deepEqual(outcome(tool("")), [
    "Left out: a tool whose name is empty, too long or misleading: .",
  ]);
  assert.match(outcome(tool("re\u202Ead"))[0] ?? "", /misleading: read\./);
  assert.match(outcome(tool("a".repeat(300)))[0] ?? "", /too long or misleading/);
  assert.deepEqual(outcome(tool("a"), tool("a")), ["Left out: a comes twice."]);
  assert.deepEqual(outcome(7, null, tool(undefined)), Array(3).fill("Left out: a tool without a name."));
  assert.deepEqual(outcome(tool("a", { inputSchema: undefined })), [
    "Left out: a has no schema of its arguments.",
  ]);
});

Deno.test("huge and deep schemas are left out; 500 tools and 4 MB of schemas are the most", () => {
  const huge = { ...OBJECT, description: "x".repeat(100_001) };
  assert.deepEqual(outcome(tool("a", { inputSchema: huge })), ["Left out: a has a schema of 100 kB."]);
  const deep = JSON.parse(`${'{"items":'.repeat(40)}{}${"}".repeat(40)}`);
  assert.deepEqual(outcome(tool("a", { inputSchema: deep })), [
    "Left out: a has a schema of more than 32 levels.",
  ]);
  const bottomless = JSON.parse(`${'{"items":'.repeat(7_000)}{}${"}".repeat(7_000)}`);
  assert.match(outcome(tool("a", { inputSchema: bottomless }))[0] ?? "", /Left out: a has a schema/);
  const many = Array.from({ length: 700 }, (_, index) => tool(`t${index}`));
  const { tools, problems } = toolList("fs", many);
  assert.equal(tools.length, 500);
  assert.deepEqual(problems, ["Left out: all tools after the first 500."]);
  const large = Array.from(
    { length: 60 },
    (_, index) => tool(`t${index}`, { inputSchema: { ...OBJECT, enum: ["x".repeat(90_000)] } }),
  );
  assert.ok(toolList("fs", large).tools.length <= 60);
});

Deno.test("descriptions are cleaned, bounded and name the server; annotations change nothing", () => {
  const description = `Reads.\u001b[31m\u200b\u{e0041}\u202e ${"x".repeat(5_000)}`;
  const [one] = toolList("fs", [tool("a", { description, annotations: { readOnlyHint: true } })]).tools;
  assert.ok(one?.description.startsWith("MCP server fs: Reads. xxx"));
  assert.ok((one?.description.length ?? 0) <= 1_024);
  assert.deepEqual(Object.keys(one ?? {}).sort(), [
    ...["description", "digest", "isAccepted", "parameters", "server", "size", "tool"],
  ]);
});

Deno.test("a schema that some provider refuses makes a tool that is searched for", () => {
  const listed = (inputSchema: unknown) =>
    namedTools(toolList("fs", [tool("a", { inputSchema })]).tools).map(({ isListed }) => isListed)[0];
  assert.equal(listed(OBJECT), true);
  assert.equal(listed({ type: "object" }), true);
  assert.equal(listed({ ...OBJECT, anyOf: [] }), false);
  assert.equal(listed({ type: "object", properties: { "a b": { type: "string" } } }), false);
  assert.equal(listed({ type: "object", properties: { a: { type: "array" } } }), false);
  assert.equal(listed({ type: "object", properties: { a: { type: "text" } } }), false);
  assert.equal(listed({ type: "object", properties: { a: { $ref: "https://example.com/x" } } }), false);
  assert.equal(listed({ ...OBJECT, required: ["b"] }), false);
  assert.equal(listed({ type: "string" }), false);
});

Deno.test("more than 40 tools, or 24 kB of them, are searched for", () => {
  const all = (count: number, size: number) => {
    const rows = Array.from(
      { length: count },
      (_, index) => tool(`t${index}`, { inputSchema: { ...OBJECT, description: "x".repeat(size) } }),
    );
    return namedTools(toolList("fs", rows).tools).every(({ isListed }) => isListed);
  };
  assert.ok(all(40, 10));
  assert.ok(!all(41, 10));
  assert.ok(!all(20, 1_500));
});
