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
      /The hook echo Not today\. >&2; exit 2 \(PreToolUse\) does not run: it is not approved\./,
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
  name:
    "a user's notification reaches the desktop after its approval in the list, and a project's never does",
  ignore,
  async fn() {
    await using desktop = await scratch();
    const file = desktop.path("notified");
    const project = { Notification: entry(`touch ${desktop.path("of_project")}`) };
    await using agent = await sharedAgent({
      script: "",
      hasOwnState: true,
      group: "hooks",
      project: { "a.txt": "a\n", ".codex/hooks.json": JSON.stringify({ hooks: project }) },
      options: `sessions = { title = false }, shell = { commands = "ask" },
        hooks = { Notification = { { hooks = { { command = "cat > ${file}" } } } } }`,
    });
    const { nvim, server } = agent;
    const answer = async (question: string, key: string) => {
      await nvim.waitForScreen(question);
      await nvim.command("stopinsert");
      await nvim.command("Agent approval");
      await nvim.waitForScreen("r reject");
      await nvim.keys(key);
    };
    const choose = async (words: string) => {
      await nvim.command("Agent hooks");
      await nvim.waitForScreen(/: Notification · cat > /);
      await nvim.keys("1<CR>");
      await nvim.waitForScreen(words);
      await nvim.keys("2<CR>");
    };
    server.play(
      `call run {"command": "touch b.txt", "access": "write"}\n---\ncall run {"command": "touch c.txt", "access": "write"}\n---\nsay Touched.`,
    );
    await nvim.command("Agent Touch it");
    await nvim.waitForScreen("touch b.txt");
    await waitForChat(nvim, "(Notification) needs your approval: :Agent hooks.");
    await waitForChat(nvim, "only hooks of your own files run, not one of .codex/hooks.json");
    await choose("2: Approve it as it is now");
    await nvim.command("Agent hooks");
    await nvim.waitForScreen(/1: Notification · cat [^]*· approved/);
    await nvim.keys("q<CR>");
    await answer("touch b.txt", "a");
    await answer("touch c.txt", "a");
    await waitForChat(nvim, "Touched.");
    await waitUntil(
      "the notification",
      async () => (await Deno.stat(file).catch(() => undefined)) !== undefined,
    );
    const received = JSON.parse(await desktop.read("notified"));
    assert.equal(received.hook_event_name, "Notification");
    assert.equal(received.notification_type, "permission_prompt");
    assert.equal(await Deno.stat(desktop.path("of_project")).catch(() => undefined), undefined);
  },
});
