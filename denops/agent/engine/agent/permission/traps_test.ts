/** What the user is told of files that commands changed. */
import assert from "node:assert/strict";
import { CommandTraps } from "./traps.ts";

Deno.test("the user is told of a sensitive file that cannot be put back, also at the end of a turn", async () => {
  const notices: unknown[] = [];
  const traps = new CommandTraps({
    emit: (event) => notices.push(event),
    ask: () => Promise.reject(new Error("nothing is to be asked")),
    holdBack: {
      take: () =>
        Promise.resolve({
          heldBack: [],
          changes: [],
          left: [{ path: "/p/.envrc", why: "it changed meanwhile" }],
        }),
      place: () => Promise.reject(new Error("nothing is to be placed")),
    },
    nameOf: (path) => path.slice("/p/".length),
    trap: (name) => ({ glob: name, safe: false, reason: "direnv runs it automatically" }),
  });
  const lines = await traps.settle(new AbortController().signal);
  assert.deepEqual(lines, ["[.envrc could not be put back: it changed meanwhile]"]);
  assert.deepEqual(notices, [{
    type: "notice",
    severity: "warning",
    text:
      "Cannot put .envrc back, which a command changed: it changed meanwhile. Check it: direnv runs it automatically.",
  }]);
});
