import assert from "node:assert/strict";
import { UserConfig } from "../../protocol/config.ts";
import { againstMode } from "../../policy/decide_mode.ts";
import { scratch } from "../../../../tests/support/project.ts";
import { covers, MODE_FACTS } from "../../protocol/modes.ts";
import { Modes } from "./modes.ts";

Deno.test("an engine's word for a mode makes it narrower, never wider and never another one of the same access", () => {
  const user = UserConfig.parse({ state_dir: "/s" });
  const rules = { safe_to_write: [], deny_read: [], read_rules: { deny: [], ask: [] } };
  const modes = new Modes(user, () => ({ root: "/p", rules }));
  for (const { name: chosen, access } of MODE_FACTS) {
    for (const said of [...MODE_FACTS.map(({ name }) => name), "root", "", "__proto__", "agent "]) {
      const narrower = modes.narrower(modes.choice(chosen), said);
      const isLess = MODE_FACTS.some((mode) =>
        mode.name === said && mode.access !== access && covers(access, mode.access)
      );
      assert.deepEqual(narrower?.mode, isLess ? said : undefined, `${chosen}, ${said}`);
      if (narrower !== undefined) assert.ok(covers(access, narrower.access) && narrower.access !== access);
    }
  }
});

Deno.test("a mode without tools writes and runs nothing, whatever its base", async () => {
  await using project = await scratch({
    ".agents/agents/quiet.md": "---\nname: quiet\ndescription: talks\nmode: agent\ntools: none\n---\nTalk.\n",
  });
  const user = UserConfig.parse({ state_dir: "/s" });
  const rules = { safe_to_write: [], deny_read: [], read_rules: { deny: [], ask: [] } };
  const modes = new Modes(user, () => ({ root: project.root, rules }));
  await modes.read();
  const limits = modes.limits(modes.choice("quiet"));
  const input = { command: "touch x", cwd: project.root, timeout: 60, background: false };
  for (const access of ["look", "try", "write"] as const) {
    assert.equal(againstMode({ kind: "command", ...input, access }, limits)?.verdict, "deny");
  }
});
