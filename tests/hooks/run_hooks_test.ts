/** Hooks in `agent run`, where nobody can be asked, and at the events around turns. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { waitForChat } from "../support/chat.ts";
import { scratch, waitUntil } from "../support/project.ts";
import { run, runPlace } from "../support/run.ts";
import { sharedAgent } from "../support/shared_agent.ts";

const ignore = Deno.build.os !== "linux";
const entry = (command: string) => [{ hooks: [{ type: "command", command }] }];
const GUARD = JSON.stringify({ hooks: { PreToolUse: entry("echo Not today. >&2; exit 2") } });
const SCRIPT = 'call write_file {"path": "made.txt", "content": "x"}\n---\nsay Done.';

Deno.test({
  name: "agent run names a hook that is not approved, and --hooks runs it",
  ignore,
  async fn() {
    await using place = await runPlace({ script: SCRIPT, project: { ".claude/settings.json": GUARD } });
    const without = await run(place, ["run", "Write"]);
    assert.match(
      without.stderr,
      /The hook echo Not today\. \(PreToolUse\) does not run: it is not approved\./,
    );
    assert.equal(await place.project.read("made.txt"), "x");
    await Deno.remove(place.project.path("made.txt"));
    place.server.play(SCRIPT);
    const approved = await run(place, ["run", "--hooks", "Write"]);
    assert.match(approved.stderr, /Not today\./);
    assert.equal(await Deno.stat(place.project.path("made.txt")).catch(() => undefined), undefined);
    assert.equal(await Deno.stat(join(place.project.root, "made.txt")).catch(() => undefined), undefined);
  },
});

Deno.test({
  name: "a notification reaches the desktop after its own question",
  ignore,
  async fn() {
    await using desktop = await scratch();
    const file = desktop.path("notified");
    const hooks = {
      Notification: entry(`cat > ${file}`),
      PreCompact: entry("echo Keep it all. >&2; exit 2"),
    };
    await using agent = await sharedAgent({
      script: "",
      hasOwnState: true,
      group: "hooks",
      project: { "a.txt": "a\n", ".codex/hooks.json": JSON.stringify({ hooks }) },
      options: `sessions = { title = false }, shell = { commands = "ask" }`,
    });
    const { nvim, server } = agent;
    const answer = async (question: string, key: string) => {
      await nvim.waitForScreen(question);
      await nvim.command("stopinsert");
      await nvim.command("Agent approval");
      await nvim.waitForScreen("r reject");
      await nvim.keys(key);
    };
    server.play(
      `call run {"command": "touch b.txt", "access": "write"}\n---\ncall run {"command": "touch c.txt", "access": "write"}\n---\nsay Touched.`,
    );
    await nvim.command("Agent Touch it");
    await answer("touch b.txt", "a");
    await nvim.waitForScreen("It runs WITHOUT a sandbox");
    await waitUntil("the first command", () => Deno.stat(agent.project.path("b.txt")).catch(() => undefined));
    assert.equal(await Deno.stat(file).catch(() => undefined), undefined);
    await answer("It runs WITHOUT a sandbox", "a");
    await answer("touch c.txt", "a");
    await waitForChat(nvim, "Touched.");
    await waitUntil(
      "the notification",
      async () => (await Deno.stat(file).catch(() => undefined)) !== undefined,
    );
    const received = JSON.parse(await desktop.read("notified"));
    assert.equal(received.hook_event_name, "Notification");
    assert.equal(received.notification_type, "permission_prompt");
  },
});
