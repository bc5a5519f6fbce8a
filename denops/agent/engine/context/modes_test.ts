/** What each mode's calls may use, and what the model is told of it. */
import assert from "node:assert/strict";
import { MODE_FACTS } from "../../protocol/modes.ts";
import { TOOLS } from "../tools/registry.ts";
import { refusalOf } from "../agent/settings/offered.ts";
import { CHOSEN, type Mode, MODES } from "./modes.ts";
import { modeText, view } from "./view.ts";

const inputs = {
  environment: { roots: ["/p"], os: "linux" },
  tools: TOOLS.map(({ spec }) => spec),
  // Its family has the longest note.
  model: "claude-sonnet-4-5",
};
const ALL_ON = { isPartOff: () => false };

function isRefused(mode: Mode, name: string, args: Readonly<Record<string, unknown>> = {}): boolean {
  const tool = TOOLS.find((one) => one.name === name);
  assert.ok(tool !== undefined, name);
  return refusalOf(tool, args, mode, TOOLS, ALL_ON) !== undefined;
}

Deno.test("a mode that changes nothing refuses what writes, and chat what runs too", () => {
  const writing = TOOLS.filter(({ least }) => least !== "read").map(({ name }) => name);
  assert.deepEqual(writing, ["write", "edit", "delete", "move", "refactor"]);
  for (const { name, access } of MODE_FACTS) {
    const refused = TOOLS.map((tool) => tool.name).filter((tool) => isRefused(MODES[name], tool));
    if (name === "chat") {
      assert.deepEqual(refused, [
        ...writing,
        "run",
        "fetch",
        "search_web",
        "subagent",
        "ask_user",
        "call_tool",
      ]);
    } else if (access === "read") assert.deepEqual(refused, writing, name);
    else assert.deepEqual(refused, access === "docs" ? ["delete", "move", "refactor"] : [], name);
  }
  const patch = "*** Begin Patch\n*** Delete File: docs/a.md\n*** End Patch";
  assert.ok(isRefused(MODES["deep-explore-write"], "edit", { patch }));
});

Deno.test("a mode names tools, kinds or old names, and gets none beyond its access", () => {
  const tools = ["read_file", "search", "edit"];
  const reading: Mode = { ...MODES.agent, tools, access: "read" };
  assert.ok(!isRefused(reading, "read", { path: "a" }));
  assert.ok(isRefused(reading, "read", { paths: ["a", "b"] }));
  assert.ok(!isRefused(reading, "list", { glob: "*.ts" }));
  assert.ok(isRefused(reading, "list", { path: "src" }));
  assert.ok(!isRefused(reading, "symbols", { kind: "definition" }));
  assert.ok(isRefused(reading, "symbols", { kind: "outline" }));
  assert.ok(isRefused(reading, "write"));
  const writing: Mode = { ...reading, access: "write" };
  assert.ok(!isRefused(writing, "write"));
  assert.ok(isRefused(writing, "run"));
  const without: Mode = { ...MODES.agent, tools: ["!execute", "!write_file"] };
  assert.ok(!isRefused(without, "edit") && !isRefused(without, "read", { path: "a" }));
  assert.ok(isRefused(without, "write") && isRefused(without, "run"));
  const patch = "*** Begin Patch\n*** Add File: a\n+x\n*** End Patch";
  assert.ok(isRefused(without, "edit", { patch }), "a patch writes files too");
});

/** Characters of what a mode adds. Modes for long work define when it is complete. */
const LONGEST: Readonly<Record<string, number>> = {
  review: 840,
  "deep-explore": 660,
  "deep-explore-write": 740,
};

Deno.test("the prompt is the same in every mode, and what a mode adds is short", () => {
  const { system: shared } = view([], MODES.agent, inputs);
  for (const mode of Object.values(CHOSEN)) {
    assert.equal(view([], mode, inputs).system, shared, mode.name);
    // A switch sends them anew.
    const text = modeText(mode, inputs);
    assert.ok(text.length < (LONGEST[mode.name] ?? 620), `${mode.name}: ${text.length}`);
  }
});
