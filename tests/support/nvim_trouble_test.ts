import assert from "node:assert/strict";
import { ChildNvim } from "./nvim.ts";
import { scratch, waitUntil } from "./project.ts";

Deno.test("a wait that fails shows what was waited for and the screen", async () => {
  await using nvim = await ChildNvim.start({ columns: 40, lines: 6 });
  await nvim.keys("ihere<Esc>");
  await assert.rejects(nvim.waitForScreen("elsewhere", { timeout: 30 }), (error: Error) => {
    assert.match(
      error.message,
      /^Waited 30 ms for the screen to show "elsewhere"\.\nNeovim is in mode n\.\n┌─{40}\n│here /,
    );
    // The stack leads to this file.
    return error.stack?.includes("nvim_trouble_test.ts") ?? false;
  });
  await assert.rejects(nvim.waitForScreenGone(/her\w/, { timeout: 30 }), /to no longer show \/her\\w\//);
});

Deno.test("a hit-enter prompt can be seen and answered", async () => {
  await using nvim = await ChildNvim.start({});
  await nvim.keys(':echo "one\\ntwo"<CR>');
  await nvim.waitForScreen("Press ENTER");
  await assert.rejects(nvim.waitFor("vim.v.vim_did_enter", { timeout: 50 }), (error: Error) => {
    return /never answered/.test(error.message) && /mode r, waiting for a key/.test(error.message) &&
      error.message.includes("Press ENTER");
  });
  await nvim.keys("<CR>");
  await nvim.waitForScreenGone("Press ENTER");
  assert.equal(await nvim.waitFor("vim.v.vim_did_enter"), 1);
});

Deno.test("an error at the start is an error of the start, with the screen", async () => {
  const lua = "error('broken config')";
  await assert.rejects(ChildNvim.start({ lua }), /it asks for a key first\.\n[^]*broken config/);
  await using nvim = await ChildNvim.start({ lua, allowPrompt: true });
  await nvim.waitForScreen("Press ENTER");
  await nvim.keys("<CR>");
  await nvim.waitFor("vim.v.vim_did_enter == 1");
});

Deno.test("a question at the start can be answered", async () => {
  const lua = "vim.g.name = vim.fn.input('Who? ')";
  await using nvim = await ChildNvim.start({ lua, allowPrompt: true });
  await nvim.waitForScreen("Who?");
  await nvim.keys("me<CR>");
  await nvim.waitFor("vim.v.vim_did_enter == 1");
  assert.equal(await nvim.lua("return vim.g.name"), "me");
});

Deno.test("a dialog can be answered", async () => {
  await using nvim = await ChildNvim.start({});
  await nvim.keys(":let answer = confirm('Sure?', \"&Yes\\n&No\")<CR>");
  await nvim.waitForScreen("[Y]es, (N)o");
  await nvim.keys("n");
  assert.equal(await nvim.waitFor("vim.g.answer"), 2);
});

Deno.test("a start that ends at once says why", async () => {
  await assert.rejects(
    ChildNvim.start({ lua: "io.stderr:write('sorry') os.exit(3)" }),
    /ended with code 3\.[^]*sorry/,
  );
  await assert.rejects(
    ChildNvim.start({ nvim: "no-such-nvim" }),
    /Cannot start Neovim: .*no-such-nvim.* Try AGENT_NVIM/,
  );
});

Deno.test({
  name: "no process, pipe or timer is left behind",
  sanitizeOps: true,
  sanitizeResources: true,
  async fn() {
    await using nvim = await ChildNvim.start({});
    await nvim.keys("itext<Esc>:echo 1 | echo 2<CR>");
    await nvim.waitForScreen("Press ENTER");
    await assert.rejects(nvim.waitForScreen("never", { timeout: 20 }));
    await assert.rejects(ChildNvim.start({ lua: "error('x')" }));
  },
});

Deno.test("quit ends it, changed buffers or not, and leaves no folder", async () => {
  await using nvim = await ChildNvim.start({});
  const home = await nvim.lua<string>("return vim.env.HOME");
  await nvim.keys("ichanged<Esc>");
  await nvim.quit();
  assert.deepEqual({ ...await nvim.exited }, { success: true, code: 0, signal: null });
  await assert.rejects(nvim.command("echo"), /Cannot call nvim_command\.\nNeovim has ended with code 0\./);
  await assert.rejects(nvim.waitForScreen("never"), /has ended with code 0\.[^]*│changed/);
  await nvim[Symbol.asyncDispose]();
  await assert.rejects(Deno.stat(home), Deno.errors.NotFound);
});

Deno.test("keys may end it", async () => {
  await using nvim = await ChildNvim.start({});
  await nvim.keys(":cquit 4<CR>");
  assert.equal((await nvim.exited).code, 4);
});

Deno.test("kill sends the signal", async () => {
  await using nvim = await ChildNvim.start({});
  nvim.kill("SIGKILL");
  assert.equal((await nvim.exited).signal, "SIGKILL");
  nvim.kill("SIGKILL");
});

Deno.test("one that hangs is killed", async () => {
  const nvim = await ChildNvim.start({});
  // It hangs in a call that uses no processor.
  const hung = assert.rejects(nvim.lua("vim.g.hung = 1 vim.uv.sleep(600000)"), /Neovim has ended/);
  await assert.rejects(nvim.waitFor("vim.g.hung", { timeout: 50 }), /busy and answers nothing/);
  await nvim[Symbol.asyncDispose]();
  await hung;
});

Deno.test("its own children end with it", async () => {
  await using folder = await scratch({});
  {
    await using nvim = await ChildNvim.start({ cwd: folder.root });
    await nvim.lua("vim.fn.jobstart({ 'sh', '-c', 'echo $$ >pid; exec sleep 60' })");
    // The file is there before its text is.
    await waitUntil("the job", async () => (await folder.read("pid").catch(() => "")).endsWith("\n"));
  }
  const pid = Number(await folder.read("pid"));
  await waitUntil("the job's end", () => {
    try {
      Deno.kill(pid, "SIGCONT");
    } catch {
      return true;
    }
  });
});

Deno.test("two at once do not meet", async () => {
  await using one = await ChildNvim.start({});
  await using two = await ChildNvim.start({});
  await Promise.all([one.keys("iI am one<Esc>"), two.keys("iI am two<Esc>")]);
  await Promise.all([one.waitForScreen("I am one"), two.waitForScreen("I am two")]);
  assert.ok(!one.text().includes("two"));
  assert.notEqual(await one.lua("return vim.v.servername"), await two.lua("return vim.v.servername"));
});
