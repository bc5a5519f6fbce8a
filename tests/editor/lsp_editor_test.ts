/**
 * How Neovim answers the engine's questions about code where servers are slow, silent or count in UTF-32, and which
 * edits it refuses. Real Neovim; the server is a Lua function, since no real one does all this.
 */
import assert from "node:assert/strict";
import { editor } from "../support/fake_server.ts";

const LINE = "let é漢 = '😀'; use(é漢);";

Deno.test("a server that counts in UTF-32 is asked about the right place", () =>
  editor({ "a.fake": `${LINE}\n` }, async ({ nvim, project, ask }) => {
    await nvim.lua(`
      fake.capabilities = { definitionProvider = true, renameProvider = true }
      fake.answers["textDocument/definition"] = function(params)
        return { result = { uri = params.textDocument.uri, range = { start = { line = 0, character = 4 }, ["end"] = { line = 0, character = 6 } } } }
      end
      fake.answers["textDocument/rename"] = function(params)
        local function at(from) return { newText = params.newName, range = { start = { line = 0, character = from }, ["end"] = { line = 0, character = from + 2 } } } end
        return { result = { documentChanges = { { textDocument = { uri = params.textDocument.uri }, edits = { at(18), at(4) } } } } }
      end`);
    const place = { path: "a.fake", line: 1, character: 19 };
    const definition = await ask({ op: "definition", ...place });
    assert.deepEqual(definition, {
      kind: "locations",
      at: { line: 1, text: "é漢" },
      locations: [{ path: project.path("a.fake"), line: 1, end_line: 1 }],
      total: 1,
    });
    const asked = await nvim.lua<unknown>("return seen[#seen][2].position");
    assert.deepEqual(asked, { line: 0, character: 18 });
    const { files } = await ask({ op: "rename", ...place, new_name: "naïve" });
    const after = `let naïve = '😀'; use(naïve);\n`;
    assert.deepEqual(files, [{ path: project.path("a.fake"), before: `${LINE}\n`, after }]);
    assert.equal(await project.read("a.fake"), `${LINE}\n`, "Neovim itself changes nothing");
  }));

Deno.test("edits outside of the project, and operations on files but creating them, are refused", () =>
  editor({ "a.fake": "x\n", "crlf.fake": "one\r\ntwo\r\n" }, async ({ nvim, project, ask }) => {
    await nvim.lua(`
      fake.capabilities = { renameProvider = true }
      fake.answers["textDocument/rename"] = function() return { result = _G.workspace_edit() } end
      _G.edit = function(address, line) return { textDocument = { uri = address }, edits = { { newText = "new", range = { start = { line = line or 0, character = 0 }, ["end"] = { line = line or 0, character = 0 } } } } } end`);
    const rename = async (lua: string) => {
      await nvim.lua(`_G.workspace_edit = function() return ${lua} end`);
      return await ask({ op: "rename", path: "a.fake", symbol: "x", new_name: "y" });
    };
    const refused = async (lua: string) => String((await rename(lua)).reason);
    assert.match(
      await refused(`{ documentChanges = { edit("file:///etc/hosts") } }`),
      /^Renaming to y is not possible, because it would change a file outside of the project: \/etc\/hosts\.$/,
    );
    await Deno.symlink("/etc/hosts", project.path("link.fake"));
    assert.match(
      await refused(`{ changes = { [uri("link.fake")] = edit("").edits } }`),
      /outside of the project/,
    );
    assert.match(
      await refused(`{ documentChanges = { { kind = "delete", uri = uri("a.fake") } } }`),
      /it would delete a file/,
    );
    assert.match(
      await refused(
        `{ documentChanges = { { kind = "rename", oldUri = uri("a.fake"), newUri = uri("b.fake") } } }`,
      ),
      /it would rename a file/,
    );
    assert.match(
      await refused(`{ documentChanges = { { kind = "create", uri = uri("a.fake") } } }`),
      /which exists/,
    );
    const { files } = await rename(
      `{ documentChanges = { { kind = "create", uri = uri("sub/new.fake") }, edit(uri("sub/new.fake")), edit(uri("crlf.fake"), 1) } }`,
    );
    assert.deepEqual(files, [
      { path: project.path("sub/new.fake"), after: "new" },
      { path: project.path("crlf.fake"), before: "one\r\ntwo\r\n", after: "one\r\nnewtwo\r\n" },
    ]);
  }));

Deno.test("types above and below are named", () =>
  editor({ "a.fake": "class Circle\n" }, async ({ nvim, project, ask }) => {
    await nvim.lua(`
      fake.capabilities = { typeHierarchyProvider = true }
      local function item(name, line)
        local range = { start = { line = line, character = 0 }, ["end"] = { line = line, character = 5 } }
        return { name = name, kind = 5, uri = uri("a.fake"), range = range, selectionRange = range }
      end
      fake.answers["textDocument/prepareTypeHierarchy"] = function() return { result = { item("Circle", 0) } } end
      fake.answers["typeHierarchy/supertypes"] = function(params) return { result = { item("Above" .. params.item.name, 7) } } end
      fake.answers["typeHierarchy/subtypes"] = function() return { result = { item("Below", 9) } } end`);
    const location = (line: number) => ({ path: project.path("a.fake"), line, end_line: line });
    const symbol = (name: string, line: number) => ({
      name,
      kind: "class",
      depth: 0,
      location: location(line),
    });
    assert.deepEqual(
      await ask({ op: "type_hierarchy", path: "a.fake", symbol: "Circle", direction: "both" }),
      {
        kind: "hierarchy",
        at: { line: 1, text: "Circle" },
        of: [symbol("Circle", 1)],
        related: [
          { relation: "super", symbol: symbol("AboveCircle", 8), calls: [] },
          { relation: "sub", symbol: symbol("Below", 10), calls: [] },
        ],
      },
    );
  }));

Deno.test("no server, no ability, no answer, an error, no such name: each is one sentence", () =>
  editor({ "a.fake": "// x in a comment\nlet x\n", "b.txt": "x\n" }, async ({ nvim, ask }) => {
    const hover = (request: Record<string, unknown> = {}) =>
      ask({ op: "hover", path: "a.fake", symbol: "x", ...request });
    const reason = async (request?: Record<string, unknown>) => String((await hover(request)).reason);
    assert.equal(
      await reason({ path: "b.txt" }),
      "No language server is attached to this file in Neovim (file type: text).",
    );
    assert.equal(await reason(), "The language server fake offers no hover information.");
    await nvim.lua(`
      vim.lsp.get_clients()[1].server_capabilities.hoverProvider = true
      require("agent.editor.lsp.clients").answer_ms = 50`);
    assert.equal(await reason(), "The language server fake did not answer in time (textDocument/hover).");
    await nvim.lua('require("agent.editor.lsp.clients").answer_ms = 60000');
    await nvim.lua(
      `fake.answers["textDocument/hover"] = function() return { err = { code = -32603, message = "it is\\nbroken" } } end`,
    );
    assert.equal(await reason(), "The language server fake answered with an error: it is broken");
    assert.equal(await reason({ symbol: "y" }), "“y” is not in the file.");
    assert.equal(await reason({ symbol: undefined, line: 9 }), "The file has no line 9, only 2.");
    assert.equal(await reason({ path: "../secret" }), "The file is outside of the project.");
    assert.equal(await reason({ path: "none.fake" }), "The file does not exist.");
    // The place in the comment is tried last, and one without an answer is not the end.
    await nvim.lua(`
      _G.lines = {}
      fake.answers["textDocument/hover"] = function(params)
        table.insert(_G.lines, params.position.line)
        return { result = params.position.line == 0 and { contents = "found" } or nil }
      end`);
    assert.equal((await hover()).text, "found");
    assert.deepEqual(await nvim.lua("return _G.lines"), [1, 0]);
  }));

Deno.test("a server that never starts is waited for once", () =>
  editor({ "a.fake": "x\n" }, async ({ nvim, project, ask }) => {
    await nvim.lua(`fake.dead = true; require("agent.editor.lsp.clients").start_ms = 50`);
    const request = { op: "hover", path: "a.fake", symbol: "x" };
    assert.equal((await ask(request)).reason, "The language server fake has not started in time.");
    const again = { roots: [project.root], request: { ...request, path: project.path("a.fake") } };
    const answer = await nvim.lua<{ ok: boolean }>("_G.answer(...) return _G.result", again);
    assert.ok(answer.ok, "the second answer is there at once");
  }));

Deno.test("a server that publishes nothing at all is waited for once", () =>
  editor({ "a.fake": "x\n" }, async ({ nvim, ask }) => {
    await nvim.lua(`
      local published = require("agent.editor.lsp.published")
      published.first_ms, published.limit_ms = 50, 50`);
    assert.equal((await ask({ op: "diagnostics", path: "a.fake" })).said, "unknown");
    await nvim.lua(PUBLISH);
    await nvim.lua(`require("agent.editor.lsp.published").limit_ms = 60000; change("y")`);
    const after = await ask({ op: "diagnostics_after", path: "a.fake" });
    assert.equal(after.said, "current", "linters may have spoken, and they are told");
  }));

const PUBLISH = `
  _G.publish = function(version, messages)
    local range = { start = { line = 0, character = 0 }, ["end"] = { line = 0, character = 1 } }
    dispatch.notification("textDocument/publishDiagnostics", {
      uri = uri("a.fake"), version = version,
      diagnostics = vim.tbl_map(function(m) return { range = range, severity = 1, message = m } end, messages),
    })
  end
  _G.change = function(text)
    local buf = vim.fn.bufnr("a.fake")
    vim.api.nvim_buf_set_lines(buf, 0, 1, true, { text })
    return vim.lsp.util.buf_versions[buf]
  end`;

Deno.test("what a server says about an earlier text is not taken for the new one", () =>
  editor({ "a.fake": "x\n" }, async ({ nvim, project, ask }) => {
    const messages = (answer: Record<string, unknown>) => {
      const [file] = answer.files as { diagnostics: { message: string }[] }[];
      return file?.diagnostics.map(({ message }) => message);
    };
    await nvim.lua(PUBLISH);
    await nvim.lua(
      `fake.on_notify = function(method) if method == "textDocument/didOpen" then vim.schedule(function() publish(0, { "first" }) end) end end`,
    );
    const first = await ask({ op: "diagnostics", path: "a.fake" });
    assert.deepEqual([first.said, messages(first)], ["current", ["first"]]);

    // The server speaks when the new text has come: of the old version, then of the new one.
    await nvim.lua(`
      _G.version = change("y")
      fake.on_notify = function(method)
        if method == "textDocument/didSave" then
          publish(version - 1, { "stale" })
          vim.schedule(function() vim.schedule(function() publish(version, { "fresh" }) end) end)
        end
      end
      vim.bo[vim.fn.bufnr("a.fake")].modified = false`);
    const after = await ask({ op: "diagnostics_after", path: "a.fake" });
    assert.deepEqual([after.said, messages(after)], ["current", ["fresh"]]);
    const methods = await nvim.lua<string[]>("return vim.tbl_map(function(s) return s[1] end, seen)");
    assert.deepEqual(methods.slice(-2), ["textDocument/didChange", "textDocument/didSave"]);

    // One that stays silent is waited for until the limit, and what it said before is not passed off as new.
    await nvim.lua(`fake.on_notify = nil; require("agent.editor.lsp.published").limit_ms = 80; change("z")`);
    assert.equal((await ask({ op: "diagnostics_after", path: "a.fake" })).said, "late");
    // Its word counts for the version that it names, whenever it comes.
    await nvim.lua(`_G.version = change("zz"); publish(version, {})`);
    assert.deepEqual(messages(await ask({ op: "diagnostics_after", path: "a.fake" })), []);
    assert.deepEqual((await ask({ op: "diagnostics" })).files, []);
    assert.equal(await project.read("a.fake"), "x\n");
  }));

Deno.test("where no server is attached the answer after a write is there at once", () =>
  editor({ "a.txt": "x\n" }, async ({ nvim, project }) => {
    const request = { op: "diagnostics_after", path: project.path("a.txt") };
    const answer = await nvim.lua<{ result: { kind: string } }>("_G.answer(...) return _G.result", {
      roots: [project.root],
      request,
    });
    assert.equal(answer.result.kind, "nothing");
  }));
