import assert from "node:assert/strict";
import fc from "fast-check";
import { runs } from "../../../tests/support/runs.ts";
import defaults from "./defaults.json" with { type: "json" };
import { globMatcher, lastMatcher, matchesGlob } from "./glob.ts";

const GLOBS = ["**/.env", "**/.env.*", "**/.ssh/**", "*.md", "src/**", "**/*.{pem,key}", "a/*/b"];

Deno.test("one of several globs is enough, in any case, and a leading dot is a character like any other", () => {
  const matches = globMatcher(GLOBS);
  for (
    const path of [".env", "x/.ENV.local", ".ssh", ".Ssh/config", "README.MD", "src/.x/y", "k.key", "a/.x/b"]
  ) {
    assert.ok(matches(path), path);
  }
  for (const path of ["", "env", "x.env", "docs/README.md", "srcs/a", "a/b", "a/x/y/b"]) {
    assert.ok(!matches(path), path);
  }
  assert.ok(!globMatcher([])("a"));
});

Deno.test("the end of a line is a character of a name like any other", () => {
  const end = fc.constantFrom("\n", "\r", "\r\n", "\u2028", "\u2029");
  const folder = fc.constantFrom("a", ".ssh", "src", ".x", "docs");
  const file = fc.constantFrom("b", ".env", ".env.local", "x.pem", "README.md", "config");
  const whole = fc.tuple(fc.array(folder, { maxLength: 3 }), file, fc.constantFrom(...GLOBS), end, fc.nat());
  fc.assert(fc.property(whole, ([folders, name, glob, ends, at]) => {
    const path = [...folders, name].join("/");
    const position = at % (path.length + 1);
    const inserted = (text: string) => `${path.slice(0, position)}${text}${path.slice(position)}`;
    assert.equal(matchesGlob(glob, inserted(ends)), matchesGlob(glob, inserted("_".repeat(ends.length))));
  }));
});

Deno.test("the last of many globs that matches is the one that each by itself tells", () => {
  const known = [
    ...GLOBS,
    "!a",
    "[ab].txt",
    "a[b",
    "**",
    "{,.}x*",
    ...defaults.safe_to_write.map(({ glob }) => glob),
  ];
  const part = fc.constantFrom(
    "a",
    ".git",
    "src",
    "node_modules",
    ".ENV",
    "x.pem",
    "[ab].txt",
    "b.txt",
    ".x",
    "é",
    "",
    "hooks",
  );
  const path = fc.array(part, { maxLength: 4 }).map((parts) => parts.join("/"));
  fc.assert(
    fc.property(fc.subarray(known), path, (globs, path) => {
      assert.equal(lastMatcher(globs)(path), globs.findLastIndex((glob) => matchesGlob(glob, path)));
    }),
    runs(500),
  );
});
