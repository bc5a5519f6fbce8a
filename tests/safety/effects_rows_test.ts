/**
 * Rows of an approval and what they stand for: whoever reads them knows the project that comes out, and nothing
 * sensitive is among those that are kept without a question.
 */
import assert from "node:assert/strict";
import { lstatSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import fc from "fast-check";
import { FileRules } from "../../denops/agent/protocol/config.ts";
import type { EffectRow } from "../../denops/agent/protocol/ui.ts";
import defaults from "../../denops/agent/policy/defaults.json" with { type: "json" };
import { sensitivity } from "../../denops/agent/policy/file_access.ts";
import { copyOf } from "../support/effects.ts";
import { ONCE, rehearsedProject } from "../support/rehearsed_project.ts";
import { IS_FULL } from "../support/sample.ts";

const FILES: Readonly<Record<string, string>> = {
  "a": "one\n",
  "AGENTS.md": "rules\n",
  "d/a": "two\n",
  "d/e/f": "three\n",
  "g/workflows/ci.yml": "on: push\n",
  ".github/copilot-instructions.md": "obey\n",
};
const { safe_to_write } = FileRules.parse(defaults);

const place = fc.constantFrom(
  ...["a", "d", "d/a", "d/e", "d/x", "g", "g/workflows", "g/workflows/ci.yml", "g/x", "x", "x/y"],
  ...["AGENTS.md", "AGENTS.md/x", ".github", ".github/workflows", ".vscode", ".vscode/x"],
).map((path) => `./${path}`);
const target = fc.constantFrom(
  "a",
  "d",
  "g",
  "x",
  "..",
  "../g",
  "d/..",
  "d/e/../../g",
  "../../x",
  "g/workflows",
);
const text = fc.constantFrom("x", "hello");

const step = fc.oneof(
  fc.tuple(text, place).map(([said, at]) => `echo ${said} > ${at}`),
  place.map((at) => `rm -rf ${at}`),
  place.map((at) => `mkdir -p ${at}`),
  fc.tuple(text, place).map(([said, at]) => `rm -rf ${at}; mkdir ${at}; echo ${said} > ${at}/x`),
  fc.tuple(text, place).map(([said, at]) => `rm -rf ${at}; echo ${said} > ${at}`),
  fc.tuple(place, place).map(([from, to]) => `mv -T ${from} ${to}`),
  fc.tuple(place, place).map(([from, to]) => `copy ${from} ${to}`),
  fc.tuple(target, place).map(([to, at]) => `ln -s ${to} ${at}`),
  fc.tuple(target, place).map(([to, at]) => `rm -rf ${at}; ln -s ${to} ${at}`),
);
/** What cp copies of a folder into itself before it fails depends on the order of the folder. */
const COPY =
  'copy() { case "$(realpath -m "$2")/" in "$(realpath -m "$1")"/*) ;; *) cp -rT "$1" "$2" ;; esac; }';

/** Each takes commands over two overlays. */
const SEQUENCES = { numRuns: IS_FULL ? 300 : 8 };
const sequences = fc.array(step, { minLength: 1, maxLength: 5 });

/** Path → "folder", "link to x" or the text. */
function kindsOf(root: string, below = ""): ReadonlyMap<string, string> {
  return new Map(
    Array.from(Deno.readDirSync(join(root, below)), ({ name }) => join(below, name)).flatMap((path) => {
      const info = lstatSync(join(root, path));
      if (info.isSymbolicLink()) return [[path, `link to ${Deno.readLinkSync(join(root, path))}`]];
      if (!info.isDirectory()) return [[path, readFileSync(join(root, path), "utf8")]];
      return [[path, "folder"], ...kindsOf(root, path)];
    }),
  );
}

/** Makes of a copy what somebody who has only read the rows would. */
function apply(rows: readonly EffectRow[], root: string): void {
  const parts = (row: EffectRow) => row.path.replace(/\/$/, "").split("/").length;
  const gone = rows.filter(({ what }) => what === "deleted" || what === "modified");
  for (const { path, from } of rows) {
    if (from !== undefined) rmSync(join(root, from), { recursive: true, force: true });
    assert.doesNotMatch(path, /…/);
  }
  for (const { path } of gone) rmSync(join(root, path.replace(/\/$/, "")), { recursive: true, force: true });
  const made = rows.filter(({ what }) => what !== "deleted").sort((a, b) => parts(a) - parts(b));
  for (const { path, after, note = "" } of made) {
    const at = join(root, path.replace(/\/$/, ""));
    mkdirSync(dirname(at), { recursive: true });
    const [, link] = /leads to (\S+)$/.exec(note) ?? [];
    if (path.endsWith("/")) mkdirSync(at, { recursive: true });
    else if (link !== undefined) Deno.symlinkSync(link, at);
    else Deno.writeTextFileSync(at, after ?? "not shown");
  }
}

/** Texts by every name that leads to them from the project, links followed. */
function reachable(root: string): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  const walk = (below: string, depth: number) => {
    for (const { name } of Deno.readDirSync(join(root, below))) {
      const path = join(below, name);
      try {
        const real = Deno.realPathSync(join(root, path));
        if (!real.startsWith(`${root}/`)) continue;
        if (!Deno.statSync(real).isDirectory) found.set(path, Deno.readTextFileSync(real));
        else if (depth > 0) walk(path, depth - 1);
      } catch (error) {
        // A link to nothing, or round in circles.
        if (!(error instanceof Error)) throw error;
      }
    }
  };
  walk("", 5);
  return found;
}

Deno.test({
  name:
    "the rows make of the project what the command has made of it, and say of all that is sensitive that it is",
  ignore: Deno.build.os !== "linux",
  async fn() {
    await fc.assert(
      fc.asyncProperty(sequences, async (steps) => {
        const script = [COPY, ...steps, "true"].join("\n");
        await using place = await rehearsedProject(FILES);
        await using copy = await copyOf(place.project.root);
        await using result = await copyOf(place.project.root);
        await result.run(script);
        const id = await place.run(script);
        const [before, target] = [kindsOf(copy.root), kindsOf(result.root)];
        if (isDeepStrictEqual(before, target)) return;
        assert.ok(await place.ask(id, ONCE));
        apply(place.rows(), copy.root);
        assert.deepEqual(kindsOf(copy.root), target, JSON.stringify(place.rows(), undefined, 1));
      }),
      SEQUENCES,
    );
  },
});

Deno.test({
  name: "without a question no sensitive name has another content than before",
  ignore: Deno.build.os !== "linux",
  async fn() {
    await fc.assert(
      fc.asyncProperty(sequences, async (steps) => {
        const script = [COPY, ...steps, "true"].join("\n");
        await using place = await rehearsedProject(FILES);
        await using result = await copyOf(place.project.root);
        await result.run(script);
        place.agree();
        const id = await place.run(script);
        await place.ask(id, { option: "reject" });
        if (place.asked.length > 0) return;
        assertHarmless(place.project.root, result.root, steps);
      }),
      SEQUENCES,
    );
  },
});

function assertHarmless(before: string, after: string, steps: readonly string[]): void {
  const [was, is] = [reachable(before), reachable(after)];
  const changed = [...new Set([...was.keys(), ...is.keys()])].filter((path) =>
    was.get(path) !== is.get(path)
  );
  const sensitive = changed.filter((path) => {
    const row = sensitivity(path, safe_to_write);
    return row !== undefined && row.packages !== true;
  });
  assert.deepEqual(sensitive, [], steps.join("\n"));
}
