/** The section of `:checkhealth agent` about other agents. */
import assert from "node:assert/strict";
import { scratch } from "../support/project.ts";
import { sharedAgent } from "../support/shared_agent.ts";

Deno.test({
  name: "health: agents that are installed or configured, their logins, and the others in one line",
  ignore: Deno.build.os !== "linux",
  async fn() {
    await using folder = await scratch({
      "lib/node_modules/mine/package.json": '{ "name": "mine", "version": "1.2.3" }',
      "lib/node_modules/mine/dist/mine.js": "#!/bin/sh\ntouch was-run\n",
      "used/token": "secret",
      "created/settings.json": "{}\n",
    });
    const program = folder.path("lib/node_modules/mine/dist/mine.js");
    await Deno.chmod(program, 0o755);
    const row = (config: string) =>
      `cmd = { "${program}" }, config = { "${folder.path(config)}" }, login = { "mine", "login" }`;
    await using agent = await sharedAgent({
      script: "",
      options: `agent = "mine", provider = "nowhere", agents = {
        mine = { title = "Mine", hosts = { "api.mine.example" }, asking_mode = "ask", ${row("used")} },
        fresh = { ${row("created")}, read_only = { "${folder.path("created/settings.json")}" } },
        missing = { title = "Missing", cmd = { "no-such-agent" }, install = "npm install -g none" },
        gone = { cmd = { "/no/such/agent" } },
      }`,
      hasOwnState: true,
      lines: 40,
    });
    await agent.nvim.command("silent! checkhealth agent");
    const text = await agent.nvim.lua<string>(
      `return table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), "\\n")`,
    );
    const [, rest = ""] = text.split("agent: other agents");
    const [section = ""] = rest.split(/^agent: /m);
    for (
      const line of [
        `OK mine: ${program}, version 1.2.3; asks in its mode "ask"; has files in ${
          folder.path("used")
        }; reaches api.mine.example`,
        `WARNING fresh: ${program}, version 1.2.3; no login found: run mine login in a terminal; reaches no host`,
        "WARNING missing: Cannot start Missing: no-such-agent is not on the PATH outside of the project. Install it: npm install -g none.",
        "WARNING gone: Cannot start gone: /no/such/agent does not exist. Install it, or set the option agents.",
        "OK They run over an overlay of the project",
      ]
    ) assert.ok(section.includes(line), `${line}\n${section}`);
    assert.match(section, /Not installed: (claude, )?.*copilot\. See :help |agent-other-agents|/);
    assert.doesNotMatch(text, /nowhere/, "no provider is needed");
    assert.ok(!await Deno.stat(folder.path("was-run")).then(() => true, () => false));
  },
});
