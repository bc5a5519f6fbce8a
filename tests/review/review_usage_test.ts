/** What the user makes of hunks is counted, by turn and by how the model has written the edit. Whole program. */
import { FILE, reviewedShared, turn } from "../support/review.ts";

Deno.test("hunks that were kept, changed and undone are in the usage", async () => {
  const patch = ["*** Begin Patch", "*** Update File: a.txt"];
  for (const number of [3, 6, 12]) patch.push("@@", `-line ${number}`, `+LINE ${number}`);
  patch.push("*** End Patch");
  await using agent = await reviewedShared({
    script: turn(`call edit_file ${JSON.stringify({ patch: patch.join("\n") })}`),
    hasOwnState: true,
    options: 'models = { ["*"] = { edit_form = "patch" } }',
  });
  const { nvim, project } = agent;
  await nvim.command("3s/LINE/My line/");
  await nvim.command("write");
  await nvim.command("normal! 3G");
  await nvim.command("Agent keep");
  await nvim.command("normal! 6G");
  await nvim.command("Agent keep");
  await nvim.command("normal! 12G");
  await nvim.command("Agent review undo");
  await nvim.waitFor(
    `#require("agent.review.track").all() == 0 or #require("agent.review.track").all()[1].hunks == 0`,
  );
  if (await project.read("a.txt") !== FILE.replace("line 3", "My line 3").replace("line 6", "LINE 6")) {
    throw new Error("the buffer was not written");
  }
  await nvim.lua(`require("agent.review.files").settle()`);
  await nvim.command("Agent usage");
  await nvim.waitForScreen("hunks: 1 kept, 1 changed, 1 undone");
  await nvim.keys("G");
  await nvim.waitForScreen(/test\/scripted +patch +1 +0 +1 +1 +1/);
});
