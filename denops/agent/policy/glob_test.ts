import assert from "node:assert/strict";
import { assertEachLinear } from "../../../tests/support/growth.ts";
import fc from "fast-check";
import picomatch from "../deps/picomatch.ts";
import { runs } from "../../../tests/support/runs.ts";
import defaults from "./defaults.json" with { type: "json" };
import { globMatcher, globProblem, isCostly, lastMatcher, matchesGlob } from "./glob.ts";

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

Deno.test("a glob that a hostile name could take minutes is known by its shape", () => {
  for (
    const glob of [
      "src/**/*.ts",
      "**/*.{js,jsx,ts,tsx}",
      "docs/*/*.md",
      "a?.ts",
      "packages/*/src/**/*.test.*",
    ]
  ) {
    assert.equal(isCostly(glob), false, glob);
  }
  const hostile = [
    "*a".repeat(4),
    "**/a/".repeat(4),
    "+(+(a))b",
    "{a,b}".repeat(40),
    "a".repeat(600),
    "?*".repeat(9),
  ];
  for (const glob of hostile) assert.equal(isCostly(glob), true, glob);
});

Deno.test("globs that are not costly are matched in time in proportion", () =>
  assertEachLinear(["*a*a*b", "**/a/**/a/**/b", "**/*.{js,ts}", "a/**/*b*c"], (glob, size) => {
    const names = Array.from({ length: size }, (_, at) => `${"a".repeat(60)}/${"a".repeat(60)}bx${at}`);
    return () => names.filter((name) => matchesGlob(glob, name));
  }, 40));

Deno.test("a glob has a problem exactly if picomatch finds one", () => {
  const part = fc.constantFrom("**", ...`a*?/!@+|,\\"'$[](){}^~# \0é`);
  fc.assert(
    fc.property(fc.array(part, { maxLength: 12 }), (parts) => {
      // Not absolute: picomatch has no say in that.
      const glob = `a${parts.join("")}`;
      const hasProblem = globProblem(glob) !== undefined;
      const parse = () => picomatch.makeRe(glob, { strictBrackets: true });
      hasProblem ? assert.throws(parse, glob) : assert.doesNotThrow(parse, glob);
    }),
    runs(2_000),
  );
});
