/** A language server that is a Lua function, and an editor to ask about it. */
import assert from "node:assert/strict";
import { PLUGIN } from "./agent.ts";
import { ChildNvim } from "./nvim.ts";
import { type Scratch, scratch } from "./project.ts";

/** A server in Lua for *.fake files: `_G.fake` says what it can and answers, `_G.seen` is what it was told. */
export const FAKE = `
vim.filetype.add({ extension = { fake = "fake" } })
vim.o.commentstring = "//%s"
_G.seen = {}
_G.fake = { capabilities = {}, answers = {} }
vim.lsp.config("fake", {
  filetypes = { "fake" },
  cmd = function(dispatchers)
    _G.dispatch = dispatchers
    return {
      request = function(method, params, callback)
        table.insert(_G.seen, { method, params })
        if method == "initialize" and not _G.fake.dead then
          callback(nil, { capabilities = vim.tbl_extend("force", {
            positionEncoding = "utf-32",
            textDocumentSync = { openClose = true, change = 1, save = true },
          }, _G.fake.capabilities) })
        elseif method == "shutdown" then
          callback(nil, nil)
        elseif _G.fake.answers[method] then
          local answer = _G.fake.answers[method](params)
          vim.schedule(function() callback(answer.err, answer.result) end)
        end
        return true, #_G.seen
      end,
      notify = function(method, params)
        table.insert(_G.seen, { method, params })
        if _G.fake.on_notify then _G.fake.on_notify(method, params) end
        return true
      end,
      is_closing = function() return false end,
      terminate = function() end,
    }
  end,
})
vim.lsp.enable("fake")
_G.answer = function(params)
  _G.result = nil
  params.servers = params.servers or { policy = "start" }
  require("agent.editor.lsp").answer(params, function(ok, result) _G.result = { ok = ok, result = result } end)
end
_G.uri = function(name) return vim.uri_from_fname(vim.fs.joinpath(vim.fn.getcwd(), name)) end
`;

export interface Asked {
  readonly nvim: ChildNvim;
  readonly project: Scratch;
  ask(request: Readonly<Record<string, unknown>>): Promise<Record<string, unknown>>;
}

/** Neovim in a project with these files; `ask` sends it a question as the engine would. */
export async function editor(
  files: Readonly<Record<string, string>>,
  body: (asked: Asked) => Promise<void>,
  options: { readonly lua?: string; readonly open?: readonly string[] } = {},
): Promise<void> {
  await using project = await scratch(files);
  await using nvim = await ChildNvim.start({
    cwd: project.root,
    runtime: [PLUGIN],
    lua: FAKE + (options.lua ?? ""),
    files: options.open ?? [],
  });
  const ask = async (request: Readonly<Record<string, unknown>>) => {
    const path = typeof request.path === "string" ? { path: project.path(request.path) } : {};
    await nvim.lua("_G.answer(...)", { roots: [project.root], request: { ...request, ...path } });
    const { ok, result } = await nvim.waitFor<{ ok: boolean; result: Record<string, unknown> }>("_G.result");
    assert.ok(ok, String(result));
    return result;
  };
  await body({ nvim, project, ask });
}
