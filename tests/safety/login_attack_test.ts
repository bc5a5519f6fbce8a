/** The login at GitHub, and what an engine that has been taken over would do to get it. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { loginFolder, saveLogin } from "../../denops/agent/supervisor/agents/copilot/logins.ts";
import { LEVELS, prepareEngine } from "../support/engine.ts";
import { ENGINE } from "../support/processes.ts";
import { scratch } from "../support/project.ts";

const THIEF = fileURLToPath(new URL("../attacks/login_thief.ts", import.meta.url));
const SECRET = "ghu_what0nobody0may0have";

for (const level of LEVELS) {
  for (const [place, inside] of [["beside the project", false], ["in the project", true]] as const) {
    Deno.test({
      name: `${level.name}: no engine reads the login, with the state folder ${place}`,
      ignore: Deno.build.os !== "linux",
      async fn() {
        await using project = await scratch({ "a.ts": "" });
        await using other = await scratch();
        const stateDir = inside ? project.path("state") : other.root;
        await saveLogin("github.com", SECRET, stateDir);
        const file = join(loginFolder(stateDir), "copilot.json");
        assert.ok((await Deno.readTextFile(file)).includes(SECRET));
        // A link that was there before, as a repository may have one.
        if (!inside) await Deno.symlink(file, project.path("link"));
        const baseUrl = "http://127.0.0.1:65000";
        const { launch } = await prepareEngine({ level, root: project.root, stateDir, baseUrl });
        const args = launch.args.map((arg) => ENGINE.test(arg) ? THIEF : arg);
        const orders = JSON.stringify({ file, secret: SECRET, root: project.root });
        const { stdout, stderr } = await new Deno.Command(launch.program, {
          args: [...args, orders],
          ...{ env: { ...launch.env }, clearEnv: true, cwd: launch.cwd, stdin: "null" },
        }).output();
        const said = new TextDecoder().decode(stdout);
        // That Deno follows a link which was there before is its known limit; no engine makes one.
        const expected = !inside && level.sandbox === "off" ? "way 2 has it\ntried\n" : "tried\n";
        assert.equal(said, expected, new TextDecoder().decode(stderr));
        assert.ok((await Deno.readTextFile(file)).includes(SECRET), "it is where it was");
      },
    });
  }
}
