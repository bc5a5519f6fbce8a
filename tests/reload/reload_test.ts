/** Buffers follow the files that the agent changes, and unsaved text is never lost. Whole program. */
import assert from "node:assert/strict";
import type { RunningAgent } from "../support/agent.ts";
import { transcript } from "../support/chat.ts";
import { waitUntil } from "../support/project.ts";
import { inOneNeovim } from "../support/shared_agent.ts";

const LINES = Array.from({ length: 12 }, (_, index) => `line ${index + 1}`);
const FILE = LINES.join("\n") + "\n";

/** One edit of a.txt, `old` to `new`, between two short texts. */
function editScript(old: string, replacement: string, path = "a.txt"): string {
  const args = JSON.stringify({ path, old_str: old, new_str: replacement });
  return `say I edit the file now.\ncall read_file {"path": "${path}"}\n---\ncall edit_file ${args}\n---\nsay The edit is made.`;
}

const HERE = { script: editScript("line 6", "LINE 6"), project: { "a.txt": FILE }, files: ["a.txt"] };

const test = inOneNeovim(HERE);

/** The user's options, until they are disposed of. */
async function withOptions({ nvim }: RunningAgent, options: string): Promise<AsyncDisposable> {
  const set = (lua: string) => nvim.lua(`require("agent").setup({ ${lua} })`);
  await set(options);
  return { [Symbol.asyncDispose]: async () => void await set("") };
}

/** A turn to its end, and what the user does before it. */
async function edited(agent: RunningAgent, before: (agent: RunningAgent) => Promise<void>): Promise<void> {
  await before(agent);
  await agent.nvim.command("Agent! edit it");
  await agent.nvim.waitFor(`require("agent").status():find("ready$")`);
}

/** a.txt has this text when it is opened anew, and the model edits it next. */
async function openedText(agent: RunningAgent, text: string | Uint8Array): Promise<void> {
  await agent.nvim.command("bwipeout! a.txt");
  await agent.project.write("a.txt", text);
  await agent.nvim.command("edit a.txt");
  agent.server.play(`new-history\n${HERE.script}`);
}

async function editedText(agent: RunningAgent, text: string | Uint8Array): Promise<void> {
  await openedText(agent, text);
  await edited(agent, async () => {});
}

function lines(agent: RunningAgent, name = "a.txt"): Promise<string[]> {
  return agent.nvim.lua<string[]>(`return vim.api.nvim_buf_get_lines(vim.fn.bufnr(...), 0, -1, true)`, name);
}

/** No prompt comes when the user looks for changes, goes back to Neovim or writes. */
async function writesWithoutPrompt(agent: RunningAgent, expected: string): Promise<void> {
  await agent.nvim.command("checktime");
  await agent.nvim.command("write");
  assert.equal(await agent.project.read("a.txt"), expected);
  assert.doesNotMatch(
    await agent.nvim.lua<string>("return vim.fn.execute('messages')"),
    /W1[12]|changed since/,
  );
}

const CHANGED = FILE.replace("line 6", "LINE 6");

test("an unmodified buffer follows; cursor, view, marks and undo stay, with autoread and without", async (agent) => {
  const { nvim } = agent;
  for (const autoread of ["autoread", "noautoread"]) {
    await openedText(agent, FILE);
    await edited(agent, async () => {
      await nvim.command(`set ${autoread}`);
      await nvim.keys("gg0xu"); // something to undo later than the agent's edit
      await nvim.keys("9Gma4l");
    });
    assert.deepEqual(await lines(agent), CHANGED.trimEnd().split("\n"), autoread);
    assert.deepEqual(await nvim.lua("return vim.api.nvim_win_get_cursor(0)"), [9, 4]);
    assert.deepEqual(await nvim.lua("return vim.api.nvim_buf_get_mark(0, 'a')"), [9, 0]);
    assert.equal(await nvim.lua("return vim.bo.modified"), false);
    await writesWithoutPrompt(agent, CHANGED);
    await nvim.keys("u");
    assert.deepEqual(await lines(agent), LINES, "u takes the agent's edit back, as one step");
    await nvim.keys("<C-r>");
    assert.deepEqual(await lines(agent), CHANGED.trimEnd().split("\n"));
  }
});

test("the model reads what is on the user's screen, not what is on disk: unsaved changes elsewhere in the file are merged with the edit, and nothing is written", async (agent) => {
  agent.server.play(HERE.script.replace("---\n", "---\nexpect UNSAVED\nexpect-not line 2\n"));
  await edited(agent, async ({ nvim }) => {
    await nvim.keys("ggccMINE<Esc>2GccUNSAVED<Esc>");
  });
  assert.deepEqual(agent.server.problems, []);
  assert.deepEqual((await lines(agent)).slice(0, 2), ["MINE", "UNSAVED"]);
  assert.equal((await lines(agent))[5], "LINE 6");
  assert.equal(await agent.nvim.lua("return vim.bo.modified"), true);
  assert.equal(await agent.project.read("a.txt"), FILE, "the disk is the user's to write");
  assert.match(agent.server.requests.at(-1)?.text ?? "", /unsaved changes; not saved to disk/);
  await writesWithoutPrompt(agent, CHANGED.replace("line 1\nline 2\n", "MINE\nUNSAVED\n"));
});

test("with save_unsaved the merged buffer is saved", async (agent) => {
  await using _ = await withOptions(agent, "files = { save_unsaved = true }");
  await edited(agent, async ({ nvim }) => {
    await nvim.keys("ggccMINE<Esc>");
  });
  assert.equal(await agent.project.read("a.txt"), CHANGED.replace("line 1\n", "MINE\n"));
  assert.equal(await agent.nvim.lua("return vim.bo.modified"), false);
});

test("what the user types after the model has read is not written over; it is told to read again", async (agent) => {
  const whole = `call write_file ${JSON.stringify({ path: "a.txt", content: CHANGED })}`;
  const script =
    `call read_file {"path": "a.txt"}\n---\nwait typing\n${whole}\n---\nexpect has changed since you read it\nsay I see.`;
  agent.server.play(script);
  const { nvim, server } = agent;
  await nvim.command("Agent! edit it");
  await server.reached("typing");
  await nvim.keys("6GccMINE<Esc>");
  server.release("typing");
  await nvim.waitFor(`require("agent").status():find("ready$")`);
  assert.deepEqual(server.problems, []);
  assert.equal((await lines(agent))[5], "MINE");
  assert.equal(await agent.project.read("a.txt"), FILE);
});

test("what the user types while the write waits for an answer is merged, or kept in the same lines", async (agent) => {
  await using _ = await withOptions(agent, 'files = { safe_to_write = { { "**", false } } }');
  const { nvim } = agent;
  for (const [row, expected] of [[1, "merged"], [6, "kept"]] as const) {
    await openedText(agent, FILE);
    await nvim.command("Agent! edit it");
    await nvim.waitForScreen("Approval");
    await nvim.keys(`${row}GccMINE<Esc>`);
    await nvim.command("Agent approve");
    await nvim.waitFor(`require("agent").status():find("ready$")`);
    assert.equal((await lines(agent))[row - 1], "MINE");
    assert.equal((await lines(agent))[5], expected === "merged" ? "LINE 6" : "MINE");
    assert.match(
      agent.server.requests.at(-1)?.text ?? "",
      expected === "merged" ? /Edited.*changed meanwhile was kept/s : /has changed the same lines/,
    );
    assert.equal(await agent.project.read("a.txt"), FILE);
  }
});

test("lines that the user has selected count as read", async (agent) => {
  const script = `call edit_file {"path": "a.txt", "old_str": "line 6", "new_str": "LINE 6"}\n---\nsay Done.`;
  agent.server.play(script);
  await agent.nvim.command("5,7Agent! edit it");
  await agent.nvim.waitFor(`require("agent").status():find("ready$")`);
  assert.equal(await agent.project.read("a.txt"), CHANGED);
});

test("a whole new content made from the unsaved text that the model has read replaces it", async (agent) => {
  const whole = `call write_file ${JSON.stringify({ path: "a.txt", content: CHANGED })}`;
  const script =
    `call read_file {"path": "a.txt"}\n---\nexpect MINE\n${whole}\n---\nexpect Replaced\nsay Done.`;
  agent.server.play(script);
  await edited(agent, async ({ nvim }) => {
    await nvim.keys("6GccMINE<Esc>");
  });
  assert.deepEqual(agent.server.problems, []);
  assert.equal((await lines(agent))[5], "LINE 6");
  await agent.nvim.keys("u");
  assert.equal((await lines(agent))[5], "MINE", "and u brings the user's text back");
});

test("a buffer that becomes modified while the file is written keeps the user's text on conflict", async (agent) => {
  await edited(agent, async ({ nvim }) => {
    // The user types right when the engine has written and the news is on its way.
    await nvim.lua(`
      local reload = require("agent.reload")
      local follow = reload.file_modified
      reload.file_modified = function(...)
        reload.file_modified = follow
        vim.api.nvim_buf_set_lines(vim.fn.bufnr("a.txt"), 5, 6, true, { "typed meanwhile" })
        return follow(...)
      end`);
  });
  assert.equal((await lines(agent))[5], "typed meanwhile");
  assert.equal(await agent.project.read("a.txt"), CHANGED);
  assert.match(
    (await transcript(agent.nvim)).join("\n"),
    /a\.txt.*:/,
    "a notice names the file and says what to do",
  );
});

test("a hidden buffer and one in two windows follow, each window keeps its place", async (agent) => {
  await edited(agent, async ({ nvim, project }) => {
    await project.write("b.txt", "b\n");
    await nvim.command("split");
    await nvim.command("normal! 11G");
    await nvim.command("wincmd w");
    await nvim.command("normal! 2G");
    await nvim.command("set hidden");
  });
  const rows =
    "return vim.tbl_map(function(w) return vim.api.nvim_win_get_cursor(w)[1] end, vim.fn.win_findbuf(vim.fn.bufnr('a.txt')))";
  assert.deepEqual((await agent.nvim.lua<number[]>(rows)).toSorted((a, b) => a - b), [2, 11]);
  assert.equal((await lines(agent))[5], "LINE 6");

  await agent.nvim.command("edit b.txt | only");
  agent.server.play(editScript("line 7", "LINE 7"));
  await agent.nvim.command("Agent! again");
  await agent.nvim.waitFor(`vim.api.nvim_buf_get_lines(vim.fn.bufnr("a.txt"), 6, 7, true)[1] == "LINE 7"`);
  assert.equal(await agent.nvim.lua("return vim.fn.bufname()"), "b.txt", "the current window did not change");
});

test("dos line endings, a missing final newline, a byte order mark and Latin-1 stay, on disk and in the buffer", async (agent) => {
  const dos = FILE.replaceAll("\n", "\r\n");
  await editedText(agent, dos);
  assert.equal(await agent.project.read("a.txt"), CHANGED.replaceAll("\n", "\r\n"));
  assert.deepEqual(await lines(agent), CHANGED.trimEnd().split("\n"));
  assert.equal(await agent.nvim.lua("return vim.bo.fileformat"), "dos");
  await writesWithoutPrompt(agent, CHANGED.replaceAll("\n", "\r\n"));

  const bom = new TextEncoder().encode("\ufeff" + FILE);
  await editedText(agent, bom);
  assert.equal(await agent.project.read("a.txt"), "\ufeff" + CHANGED);
  assert.equal(await agent.nvim.lua("return vim.bo.bomb"), true);

  const latin = Uint8Array.from([...FILE].map((character) => character.charCodeAt(0)).concat([0xe9, 0x0a]));
  await editedText(agent, latin);
  const bytes = await Deno.readFile(agent.project.path("a.txt"));
  assert.equal(bytes.at(-2), 0xe9, "the byte that is no UTF-8 is untouched");
  assert.equal((await lines(agent)).at(-1), "é");

  await agent.nvim.command("set nofixendofline");
  await editedText(agent, FILE.trimEnd());
  assert.equal(await agent.project.read("a.txt"), CHANGED.trimEnd());
  assert.equal(await agent.nvim.lua("return vim.bo.endofline"), false);
  await writesWithoutPrompt(agent, CHANGED.trimEnd());
});

test("an open buffer of a file that is created gets its text", async (agent) => {
  const script = `call write_file {"path": "new.txt", "content": "fresh\\n"}\n---\nsay Created.`;
  agent.server.play(script);
  await edited(agent, ({ nvim }) => nvim.command("edit new.txt"));
  assert.deepEqual(await lines(agent, "new.txt"), ["fresh"]);
  assert.equal(await agent.nvim.lua("return vim.bo.modified"), false);
});

test("a file that was deleted meanwhile is not brought back by a stale edit; the buffer keeps its text", async (agent) => {
  await edited(agent, async ({ project }) => {
    await Deno.remove(project.path("a.txt"));
  });
  assert.deepEqual(await lines(agent), LINES);
  assert.match(agent.server.requests.at(-1)?.text ?? "", /does not exist/);
  await assert.rejects(agent.project.read("a.txt"), Deno.errors.NotFound);
});

test("a language server sees exactly the change", async (agent) => {
  const lua = `
    _G.changes = {}
    vim.lsp.start({ name = "spy", cmd = function(dispatchers)
      return {
        request = function(method, _, callback)
          if method == "initialize" then
            callback(nil, { capabilities = { textDocumentSync = { openClose = true, change = 2 } } })
          else
            callback(nil, nil)
          end
          return true, 1
        end,
        notify = function(method, params)
          if method == "textDocument/didChange" then
            table.insert(_G.changes, params.contentChanges)
            -- The agent waits for a server's word about what it has written.
            vim.schedule(function()
              dispatchers.notification("textDocument/publishDiagnostics", {
                uri = params.textDocument.uri, version = params.textDocument.version, diagnostics = {},
              })
            end)
          end
          return true
        end,
        is_closing = function() return false end,
        terminate = function() dispatchers.on_exit(0, 0) end,
      }
    end })`;
  await edited(agent, async ({ nvim }) => {
    await nvim.lua(lua);
    await nvim.waitFor(`#vim.lsp.get_clients({ name = "spy" }) > 0`);
  });
  await agent.nvim.waitFor("#_G.changes > 0");
  const [changes] = await agent.nvim.lua<{ range: { start: { line: number } }; text: string }[][]>(
    "return _G.changes",
  );
  assert.equal(changes?.length, 1);
  assert.equal(changes?.[0]?.range.start.line, 5);
  assert.ok((changes?.[0]?.text.length ?? 99) <= "LINE 6\n".length, "not the whole file");
  await agent.nvim.lua(`vim.lsp.get_clients({ name = "spy" })[1]:stop(true)`);
});

test("an edit that is reported as done is there, however often the user saves meanwhile", async (agent) => {
  const { nvim, server } = agent;
  const numbers = LINES.slice(2).map((_, index) => index + 3);
  const edits = numbers.map((number) =>
    `call edit_file ${
      JSON.stringify({ path: "a.txt", old_str: `line ${number}\n`, new_str: `LINE ${number}\n` })
    }`
  );
  server.play(['call read_file {"path": "a.txt"}', ...edits, "say The edits are made."].join("\n---\n"));
  const first = server.requests.length;
  await nvim.lua(`local buffer, saves = vim.fn.bufnr("a.txt"), 0
    _G.saving = vim.uv.new_timer()
    _G.saving:start(0, 25, vim.schedule_wrap(function()
      -- On a busy machine no edit fits between two saves, but some fit into a pause.
      if os.time() % 3 == 0 then return end
      saves = saves + 1
      vim.api.nvim_buf_set_lines(buffer, 0, 1, true, { "save " .. saves })
      vim.api.nvim_buf_call(buffer, function() vim.cmd("silent write!") end)
    end))`);
  await edited(agent, async () => {});
  await nvim.lua("_G.saving:close()");
  const done = numbers.filter((_, index) => /^Edited/.test(server.requests[first + 2 + index]?.text ?? ""));
  assert.ok(done.length > 0, server.requests.map(({ text }) => text).join("\n"));
  await waitUntil(() => `the edits ${done.join()}`, async () => {
    const there = [...await lines(agent), ...(await agent.project.read("a.txt")).split("\n")];
    return done.every((number) => there.includes(`LINE ${number}`));
  });
});
