/** How a project is built and run, according to its manifests. Pure. */
import * as z from "../../deps/zod.ts";

const NAMES = new Set([
  ...["package.json", "deno.json", "deno.jsonc", "composer.json", "Cargo.toml", "pyproject.toml", "setup.py"],
  ...["requirements.txt", "go.mod", "Makefile", "justfile", "CMakeLists.txt", "meson.build", "pom.xml"],
  ...["build.gradle", "build.gradle.kts", "Gemfile", "mix.exs", "Package.swift", "stack.yaml", "flake.nix"],
]);

/** Scripts in the prompt. */
const MOST_SCRIPTS = 20;

/** @param name of a file in the root */
export function isManifest(name: string): boolean {
  return NAMES.has(name) || /\.(?:cabal|sln|csproj)$/.test(name);
}

const Scripts = z.object({
  scripts: z.record(z.string(), z.unknown()).optional(),
  tasks: z.record(z.string(), z.unknown()).optional(),
});

/** "package.json (scripts: build, test)" */
export function manifestLine(name: string, text: string): string {
  const names = scriptsOf(name, text).filter((script) => /^[\w:.\/-]{1,40}$/.test(script));
  if (names.length === 0) return name;
  const more = names.length > MOST_SCRIPTS ? `, ${names.length - MOST_SCRIPTS} more` : "";
  return `${name} (${names.slice(0, MOST_SCRIPTS).join(", ")}${more})`;
}

function scriptsOf(name: string, text: string): readonly string[] {
  if (name === "Makefile" || name === "justfile") {
    const targets = [...text.matchAll(/^([\w-][\w.\/-]*)(?: [^:=\n]*)?:(?!=)/gm)].map(([, target = ""]) =>
      target
    );
    return [...new Set(targets)];
  }
  if (!/\.jsonc?$/.test(name)) return [];
  try {
    const { scripts = {}, tasks = {} } = Scripts.parse(JSON.parse(text.replace(/^[ \t]*\/\/.*$/gm, "")));
    return [...Object.keys(scripts), ...Object.keys(tasks)];
  } catch {
    return [];
  }
}
