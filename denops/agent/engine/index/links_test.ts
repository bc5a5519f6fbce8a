import assert from "node:assert/strict";
import { keyOf, linksOf } from "./links.ts";

const ROWS: readonly (readonly [path: string, text: string, links: readonly string[]])[] = [
  ["src/a/main.ts", 'import { x } from "../b/x.ts";\nexport * from "./y";\nawait import("./z.ts");', [
    "b/x",
    "a/y",
    "a/z",
  ]],
  ["web/app.jsx", "const list = require('./list');\nimport React from 'react';", ["web/list"]],
  ["lua/agent/init.lua", 'local draw = require("agent.chat.draw")\nrequire "agent.x"', [
    "chat/draw",
    "agent/x",
  ]],
  ["pkg/core/run.py", "from .base import Runner, stop\nfrom pkg.tools import hammer", [
    "core/base",
    "pkg/tools",
    "base/Runner",
    "base/stop",
    "tools/hammer",
  ]],
  ["app/src/org/acme/Main.java", "import org.acme.store.Shelf;\nimport static org.acme.Tools;", [
    "store/Shelf",
    "acme/Tools",
  ]],
  [
    "crates/core/src/main.rs",
    "mod flags;\nuse crate::{search::Worker, haystack};\nuse crate::flags::hiargs::HiArgs;",
    [
      "src/flags",
      "src/search",
      "src/haystack",
      "flags/hiargs",
    ],
  ],
  ["crates/core/src/flags/mod.rs", "pub(crate) mod hiargs;\nuse super::messages::note;", [
    "flags/hiargs",
    "src/messages",
    "messages/note",
  ]],
  ["src/draw/line.c", '#include "point.h"\n#include "util/list.h"\n#include <stdio.h>', [
    "draw/point",
    "util/list",
  ]],
  ["src/a.ts", `import "./${"x".repeat(500)}";`, []],
];

for (const [path, text, links] of ROWS) {
  Deno.test(`imports of ${path}`, () => {
    const found = linksOf(path, text);
    for (const link of links) assert.ok(found.includes(link), `${link} is not in ${found}`);
    if (links.length === 0) assert.deepEqual(found, []);
  });
}

Deno.test("a file that stands for its folder has the folder's key, and no file links to itself", () => {
  assert.equal(keyOf("lua/agent/chat/init.lua"), "agent/chat");
  assert.equal(keyOf("main.ts"), "main");
  assert.deepEqual(linksOf("src/a.ts", 'import "../src/a.ts";'), []);
});
