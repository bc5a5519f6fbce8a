/** The version of agent.nvim, as CHANGELOG.md names it. */
export const VERSION = "0.1.0";

/** The oldest Deno that has all that we use: file locks that do not wait are the newest. */
const OLDEST_DENO = [2, 8] as const;

/** One line if this version of Deno is too old. */
export function denoProblem(version: string): string | undefined {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  if (major > OLDEST_DENO[0] || (major === OLDEST_DENO[0] && minor >= OLDEST_DENO[1])) return undefined;
  return `it needs Deno ${
    OLDEST_DENO.join(".")
  } or newer, and this is ${version}. Update with "deno upgrade".`;
}
