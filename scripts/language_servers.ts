/** Language servers for the tests, from npm: one that counts in UTF-16 and pushes, one in UTF-8 that is asked. */
import { join } from "node:path";
import { npmPackages } from "./npm_packages.ts";

/** What package.json asks for; two names, since both are the package typescript. */
const DEPENDENCIES = {
  "typescript": "5.9.3",
  "typescript-language-server": "5.3.0",
  "typescript-native": "npm:typescript@7.0.2",
} as const;

/** Commands; all of them speak LSP on stdin and stdout. */
export interface UnpackedServers {
  /** typescript-language-server: UTF-16, publishes diagnostics, does not say of which version. */
  readonly utf16: readonly string[];
  /** TypeScript 7's own: UTF-8 if the client can, is asked for diagnostics. */
  readonly utf8: readonly string[];
}

/** @throws {Error} one line, if they cannot be installed */
export async function languageServers(depsDir: string): Promise<UnpackedServers> {
  const modules = await npmPackages(depsDir, {
    name: "lsp",
    what: "the language servers",
    dependencies: DEPENDENCIES,
  });
  return {
    utf16: ["node", join(modules, "typescript-language-server", "lib", "cli.mjs"), "--stdio"],
    utf8: ["node", join(modules, "typescript-native", "bin", "tsc"), "--lsp", "--stdio"],
  };
}
