/** What an engine that has been taken over says of a call passes for no word of the supervisor's. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { META, PERMISSION_OPTIONS } from "../../denops/agent/protocol/extensions.ts";
import type { Message, Order } from "../attacks/hostile_questions.ts";
import { type Scratch, scratch, waitUntil } from "../support/project.ts";
import { startTainted, type Tainted } from "../support/tainted.ts";

const FAKE = "in the project's root";

function command(cwd: string, more: Readonly<Record<string, unknown>> = {}): Message {
  const input = { command: "make all", cwd, timeout: 60, access: "write+network", background: false };
  const access = { kind: "command", ...input };
  return permission({ kind: "execute", title: "run make all", ...more }, "it writes", access);
}

function permission(
  call: Readonly<Record<string, unknown>>,
  reason: string,
  access: Readonly<Record<string, unknown>> = { kind: "nothing" },
): Message {
  const params = {
    toolCall: { toolCallId: "t", ...call },
    options: [...PERMISSION_OPTIONS],
    _meta: { [META]: { reason, force: false, access } },
  };
  return { method: "session/request_permission", request: true, params };
}

interface Scene extends AsyncDisposable {
  readonly around: Scratch;
  readonly tainted: Tainted;
}

async function openScene(): Promise<Scene> {
  await using stack = new AsyncDisposableStack();
  const around = stack.use(await scratch({ "proj/package.json": "{}", "proj/sub/a": "", "outside/a": "" }));
  const tainted = stack.use(await startTainted([], { root: around.path("proj") }));
  const owned = stack.move();
  return { around, tainted, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

let shared: Promise<Scene> | undefined;

function scene(): Promise<Scene> {
  return shared ??= openScene();
}

Deno.test.afterAll(async () => {
  await (await shared)?.[Symbol.asyncDispose]();
});

/** The rows of the approval of one order; it is rejected then. */
async function approval(of: Order): Promise<readonly string[]> {
  const { nvim, order } = (await scene()).tainted;
  await order([of]);
  await nvim.lua(`require("agent.chat").new()`);
  await nvim.command("Agent! go");
  await nvim.waitForScreen(/Approval/);
  const rows = await nvim.lua<readonly string[]>(`for _, window in ipairs(vim.api.nvim_list_wins()) do
    local buffer = vim.api.nvim_win_get_buf(window)
    if vim.bo[buffer].filetype == "agent-approval" then return vim.api.nvim_buf_get_lines(buffer, 0, -1, true) end
  end`);
  await nvim.command("Agent reject no");
  await nvim.waitForScreenGone(/Approval/);
  await nvim.waitFor(`require("agent").status():find("ready$")`);
  return rows;
}

Deno.test("a newline in a title, a reason or a file's name does not keep an approval from the screen", async () => {
  const path = join((await scene()).around.path("proj"), `a\n${FAKE}`);
  const content = [{ type: "diff", path, oldText: null, newText: "x\n" }, {
    type: "diff",
    path,
    newText: "y\n",
  }];
  const order = permission(
    { kind: "edit", title: `write\na.txt\u3164\u202e${FAKE}`, content },
    `so\n${FAKE}`,
  );
  const [title = "", reason = "", ...rest] = await approval(order);
  assert.match(title, /^write a\.txt<U\+3164><U\+202E>in the/);
  assert.match(reason, /^so in the project's root/);
  assert.match(rest[0] ?? "", /^── a␊in the project's root/);
  assert.ok([title, reason, ...rest].every((line) => line !== FAKE), "no row passes for the supervisor's");
});

Deno.test("the access is on the screen, whatever the title says", async () => {
  const access = { kind: "mcp", server: "git", tool: "drop" };
  const rows = await approval(permission({ kind: "other", title: "look" }, "so", access));
  assert.deepEqual(rows, ["look", "so", "drop of the server git"]);
});

Deno.test("a folder with a telling name does not pass for the supervisor's words", async () => {
  for (const name of [FAKE, `${"x".repeat(73)}${FAKE}`, `a\n${FAKE}`, `${"x/".repeat(60)}${FAKE}`]) {
    const folder = join((await scene()).around.path("proj"), name);
    await Deno.mkdir(folder, { recursive: true });
    const rows = await approval(command(folder));
    assert.equal(rows[0], "$ make all", name);
    assert.match(
      rows[2] ?? "",
      /^write: changes files of the project, with the network · severity: \w+$/,
      name,
    );
    assert.match(rows[3] ?? "", /^in \.\/.{1,60}$/u, name);
    assert.equal(rows.length, 4, name);
  }
});

Deno.test("a folder that leads elsewhere, or outside, is not asked about at all", async () => {
  const { around, tainted } = await scene();
  const root = around.path("proj");
  await Deno.symlink("sub", join(root, "link"));
  await Deno.symlink("../outside", join(root, "out"));
  const folders = ["link", "out", "../outside", "sub/../sub", "nowhere/../sub"].map((name) =>
    `${root}/${name}`
  );
  const { nvim } = tainted;
  await tainted.order([...folders, "sub", ""].map((folder) => command(folder)));
  await nvim.lua(`require("agent.chat").new()`);
  await nvim.command("Agent! go");
  const said = () =>
    nvim.lua<readonly string[]>(
      `return vim.api.nvim_buf_get_lines(require("agent.chat").current().transcript.buffer, 0, -1, true)`,
    );
  const answers = await waitUntil("an answer to each", async () => {
    const lines = (await said()).filter((line) => line.startsWith("session/request_permission"));
    return lines.length >= folders.length + 2 && lines;
  });
  assert.equal(answers.length, folders.length + 2);
  for (const answer of answers) assert.match(answer, /"reject".*not a real folder of the project/);
});
