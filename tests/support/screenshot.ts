/** Screens as reference files in tests/screens; AGENT_UPDATE_SCREENS=1 writes them anew. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { ChildNvim } from "./nvim.ts";

const FOLDER = fileURLToPath(new URL("../screens/", import.meta.url));

/**
 * Waits until the screen is the one of this name; on a mismatch the error shows both.
 * @param masked the screen's text without what differs from run to run
 */
export async function expectScreen(
  nvim: ChildNvim,
  name: string,
  masked: (text: string) => string = (text) => text,
): Promise<void> {
  const file = join(FOLDER, `${name}.txt`);
  if (Deno.env.get("AGENT_UPDATE_SCREENS") !== undefined) {
    await Deno.mkdir(FOLDER, { recursive: true });
    await Deno.writeTextFile(file, masked(nvim.text()) + "\n");
    return;
  }
  const expected = withoutNumbers((await Deno.readTextFile(file)).replace(/\n$/, ""));
  const seen = (text: string) => withoutNumbers(masked(text));
  await nvim.waitForScreen((text) => seen(text) === expected).catch(() => {});
  assert.equal(seen(nvim.text()), expected, `the screen is not tests/screens/${name}.txt`);
}

/**
 * The estimate of tokens depends on the length of the project's path, and a chat's number on earlier tests. The tab line
 * shortens the chat's name to the available space.
 */
function withoutNumbers(text: string): string {
  return text.replaceAll(/ *\S*\bchat-\d+(-input)? */g, " chat$1 ").replaceAll(/ +X$/gm, " X").replace(
    /\b[\d_](?:\.[\d_])?k of (.*?) *(?=[│\n]|$)/gm,
    "_k of $1",
  );
}
