/** Which tools each mode has, and what its prompt adds. */
import assert from "node:assert/strict";
import { MODE_FACTS } from "../../protocol/modes.ts";
import { TOOLS } from "../tools/registry.ts";
import { CHOSEN, MODES, toolsOf, within } from "./modes.ts";
import { AGENT_SECTIONS } from "./sections.ts";
import { view } from "./view.ts";

const inputs = {
  environment: { roots: ["/p"], os: "linux" },
  tools: TOOLS.map(({ spec }) => spec),
  // Its family has the longest note.
  model: "claude-sonnet-4-5",
};

Deno.test("a mode that changes nothing has no tool that writes, and commands that look", () => {
  for (const { name, access } of MODE_FACTS) {
    const tools = toolsOf(MODES[name], TOOLS);
    // What a sub-agent may change its own row says: see Subagents.accessOf.
    const held = tools.filter(({ name, kind }) => name !== "run_subagent" && kind !== "execute");
    const writing = held.filter(({ readOnly }) => !readOnly).map(({ name }) => name);
    if (access === "read") assert.deepEqual(writing, [], name);
    if (access === "docs") assert.deepEqual(writing, ["write_file", "edit_file"], name);
    if (access === "write") assert.equal(tools.length, TOOLS.length, name);
  }
  assert.deepEqual(toolsOf(MODES.chat, TOOLS), []);
});

Deno.test("a mode names tools or kinds of them, and gets none beyond its access", () => {
  const tools = ["read_file", "search", "edit"];
  const names = (access: "read" | "write") =>
    toolsOf({ ...MODES.agent, tools, access }, TOOLS).map(({ name }) => name);
  assert.ok(names("read").includes("find_files"));
  assert.ok(!names("read").includes("write_file"));
  assert.ok(names("write").includes("write_file"));
  assert.ok(!names("write").includes("run_terminal_command"));
  const without = toolsOf({ ...MODES.agent, tools: ["!execute", "!write_file"] }, TOOLS).map(({ name }) =>
    name
  );
  assert.ok(without.includes("edit_file") && without.includes("read_file"));
  assert.ok(!without.includes("write_file") && !without.includes("run_terminal_command"));
});

Deno.test("a mode's own words come after all that every mode says", () => {
  const { system: shared } = view([], { ...MODES.agent, sections: AGENT_SECTIONS }, inputs);
  for (const mode of Object.values(CHOSEN)) {
    const { system } = view([], mode, inputs);
    assert.ok(system.startsWith(shared), mode.name);
    // A switch sends them anew.
    assert.ok(system.length - shared.length < 600, `${mode.name}: ${system.length - shared.length}`);
    const { system: compaction } = view([], within(MODES.compaction, mode), inputs);
    assert.equal(compaction, system);
  }
});
