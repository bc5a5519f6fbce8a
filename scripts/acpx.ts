/** acpx for the tests, from npm: a client of the Agent Client Protocol for terminals. */
import { join } from "node:path";
import { npmPackages } from "./npm_packages.ts";

const DEPENDENCIES = { acpx: "0.19.1" } as const;

/** Deno's arguments for acpx; it needs a newer Node than some machines have. @throws {Error} one line */
export async function acpxArguments(depsDir: string): Promise<readonly string[]> {
  const modules = await npmPackages(depsDir, { name: "acpx", what: "acpx", dependencies: DEPENDENCIES });
  const program = join(modules, "acpx", "dist", "cli.js");
  return ["run", "-A", "--quiet", "--no-lock", "--node-modules-dir=manual", "--no-config", program];
}
