import assert from "node:assert/strict";
import { LIST, READ_FILE } from "../../../../tests/support/histories.ts";
import type { MessageEntry } from "../log/entries.ts";
import { MODES } from "./modes.ts";
import { firstBreak, outline } from "./outline.ts";
import type { Project } from "./project.ts";
import { view } from "./view.ts";

const environment = { roots: ["/p"], os: "linux" };
const project: Project = {
  mark: "m",
  manifests: [],
  tree: "a.ts",
  rules: [{ path: "AGENTS.md", text: "Use tabs.", bytes: 9 }],
};
const LOG: readonly MessageEntry[] = [
  { type: "user_message", origin: "user", parts: [{ type: "text", text: "Look" }] },
  { type: "assistant_message", text: "", calls: [{ id: "1", name: "list", arguments: "{}" }], reasoning: [] },
  { type: "tool_result", id: "1", name: "list", text: "a.ts", isError: false },
];

function prompt(length: number, tools = [READ_FILE, LIST], changes: Partial<Project> = {}) {
  return view(LOG.slice(0, length), MODES.agent, { environment, tools, project: { ...project, ...changes } });
}

Deno.test("every part of a request is counted under its name", () => {
  const inputs = { environment, tools: [LIST], project };
  const all = outline(prompt(3, [LIST]), MODES.agent, inputs);
  const parts = all.map(({ part }) => part);
  const named = (group: string) => parts.filter((part) => part.group === group);
  assert.deepEqual(named("tools").map(({ name }) => name), ["list"]);
  assert.deepEqual(named("rules"), [
    { group: "rules", name: "AGENTS.md", bytes: 9, id: "rules:AGENTS.md", characters: 47 },
  ]);
  const sizes = [...named("system"), ...named("rules")].reduce((sum, { characters }) => sum + characters, 0);
  const separators = 2 * named("system").length;
  assert.equal(sizes + separators, prompt(3).system.length);
  const texts = all.flatMap(({ part, texts }) => part.group === "tools" ? [] : texts);
  assert.equal(texts.join("\n\n"), prompt(3).system);
  assert.deepEqual(JSON.parse(all[0]?.texts.join() ?? ""), LIST);
});

Deno.test("a request that goes on where the last one ended breaks nothing; any other says where and why", () => {
  assert.equal(firstBreak(prompt(1), prompt(3)), undefined);
  assert.equal(firstBreak(prompt(3), prompt(3)), undefined);
  const first = JSON.stringify(READ_FILE).length;
  const off = firstBreak(prompt(1), prompt(3, [READ_FILE]));
  assert.deepEqual([off?.where, off?.reason, off?.kept], ["tool list", "switched off: list", first]);
  const system = firstBreak(prompt(1), prompt(3, undefined, { tree: "b.ts" }));
  assert.deepEqual([system?.where, system?.reason], ["system prompt", "the system prompt is another one"]);
  const left = firstBreak(prompt(3), prompt(1));
  assert.deepEqual([left?.where, left?.reason], ["message 2", "messages were left out"]);
  assert.ok((left?.kept ?? 0) > 0 && left?.kept === left?.sent);
});
