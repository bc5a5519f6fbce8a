import assert from "node:assert/strict";
import { assertEachLinear } from "../../../tests/support/growth.ts";
import defaults from "./defaults.json" with { type: "json" };
import { sensitivity } from "./file_access.ts";
import { changedKeys, touchesKeys } from "./manifest.ts";

/** Is this change of a manifest one that asks, by the built-in list? */
function asks(name: string, before: string | undefined, after: string | undefined): boolean {
  return sensitivity(name, defaults.safe_to_write, () => changedKeys(name, { before, after })) !== undefined;
}

const json = (value: unknown) => JSON.stringify(value, undefined, 2);

Deno.test("a manifest asks by the keys that change: dependencies and settings do not", () => {
  const before = json({ name: "a", version: "1.0.0", scripts: { test: "x" }, dependencies: { a: "1" } });
  const change = (more: object) => asks("app/package.json", before, json({ ...JSON.parse(before), ...more }));
  assert.equal(change({ version: "1.0.1" }), false);
  assert.equal(change({ dependencies: { a: "2", b: "1" } }), false);
  assert.equal(change({ scripts: { test: "x", build: "y" } }), false);
  assert.equal(change({ scripts: { test: "x", prepare: "y" } }), true);
  assert.equal(change({ prettier: { plugins: ["./evil.js"] } }), true);
  assert.equal(change({ eslintConfig: {} }), true);
  assert.equal(change({ "lint-staged": { "*": "sh x" } }), true);
  assert.equal(change({ packageManager: "yarn@9" }), true);

  assert.equal(
    asks("Cargo.toml", '[package]\nname = "a"\n', '[package]\nname = "b"\n[dependencies]\nc = "1"\n'),
    false,
  );
  assert.equal(
    asks("Cargo.toml", '[package]\nname = "a"\n', '[package]\nname = "a"\nbuild = "x.rs"\n'),
    true,
  );
  assert.equal(
    asks("pyproject.toml", "", '[project]\ndependencies = ["a"]\n[tool.black]\nline-length = 99\n'),
    false,
  );
  assert.equal(asks("pyproject.toml", "", '[tool.pylint.main]\ninit-hook = "x"\n'), true);
  assert.equal(asks("pyproject.toml", "", '[tool.mypy]\nplugins = ["x"]\n'), true);
  assert.equal(
    asks("setup.cfg", "[metadata]\nname = a\n", "[metadata]\nname = b\n[flake8]\nmax-line-length = 9\n"),
    false,
  );
  assert.equal(asks("setup.cfg", "", "[flake8:local-plugins]\nextension =\n  X = x:Y\n"), true);
  assert.equal(asks("tox.ini", "[mypy]\nstrict = yes\n", "[mypy]\nstrict = yes\nplugins = x\n"), true);
  assert.equal(asks("tox.ini", "[mypy]\nplugins =\n  a\n", "[mypy]\nplugins =\n  a\n  b\n"), true);
  assert.equal(asks("tsconfig.json", "{}", '{ // strict\n "compilerOptions": { "strict": true, }, }'), false);
  assert.equal(
    asks("tsconfig.json", "{}", '{ "compilerOptions": { "plugins": [{ "name": "./x" }] } }'),
    true,
  );
});

Deno.test("manifests in XML ask by their elements", () => {
  const project = (inside: string) => `\ufeff<Project Sdk="Microsoft.NET.Sdk">\n${inside}\n</Project>\n`;
  const group = "<PropertyGroup><Nullable>enable</Nullable></PropertyGroup>";
  const target = '<Target Name="A"><Exec Command="x" /></Target><Target Name="B" />';
  const change = (before: string, after: string) => asks("src/A.csproj", project(before), project(after));
  const packages = '<ItemGroup><PackageReference Include="A" Version="1" /></ItemGroup>';
  assert.equal(change(group, `${group}<!-- > -->${packages}<PropertyGroup><A>1</A></PropertyGroup>`), false);
  assert.equal(change(target, `${target}${packages}`), false);
  for (
    const more of [
      target,
      '<UsingTask TaskName="A" AssemblyFile="a.dll" />',
      "<Import Project='a.targets' Condition=\"'$(A)' > 1\" />",
      "<PropertyGroup><PostBuildEvent>x</PostBuildEvent></PropertyGroup>",
      "<propertyGroup><postbuildevent>x</postbuildevent></propertyGroup>",
      '<m:Target xmlns:m="a" />',
      "<Choose><When Condition='1'><PropertyGroup /></When></Choose>",
      "<Broken>",
      "<A B=<Target/>",
    ]
  ) assert.equal(change(group, group + more), true, more);
  // The same elements in another place are another program.
  assert.equal(change(target, '<Target Name="A" /><Target Name="B"><Exec Command="x" /></Target>'), true);
  assert.equal(asks("A.csproj", project(""), project("").replace("Microsoft.NET.Sdk", "Evil")), true);

  const pom = (inside: string) => `<?xml version="1.0"?>\n<project xmlns="a">${inside}</project>`;
  const dependency = "<dependencies><dependency><version>1</version></dependency></dependencies>";
  assert.equal(asks("pom.xml", pom("<name>a</name>"), pom(`<name>b</name>${dependency}`)), false);
  assert.equal(asks("a/pom.xml", pom(""), pom("<build><plugins><plugin/></plugins></build>")), true);
  const entity = '<!DOCTYPE project [<!ENTITY b SYSTEM "b.xml">]><project>&b;</project>';
  assert.equal(asks("pom.xml", pom(""), entity), true);
  assert.equal(asks("build/own.props", undefined, "<Project />"), true);
});

Deno.test("what cannot be read asks; what is deleted does not", () => {
  assert.equal(asks("package.json", "{}", "{ not json at all ]]"), true);
  assert.equal(asks("Cargo.toml", "", "= ="), true);
  assert.equal(asks("package.json", "{}", json({ a: "x".repeat(300_000) })), true);
  assert.equal(asks("package.json", json({ prettier: {} }), undefined), false);
});

Deno.test("manifests that are code always ask, and so do the files of other agents and servers", () => {
  for (
    const name of [
      ...[
        "Gemfile",
        "a.gemspec",
        "mix.exs",
        ".formatter.exs",
        "build.gradle",
        "app/build.gradle.kts",
        "settings.gradle",
      ],
      ...[
        ".php-cs-fixer.dist.php",
        ".helix/config.toml",
        ".neoconf.json",
        ".bsp/sbt.json",
        "buildServer.json",
      ],
      ...[
        "hie.yaml",
        ".merlin",
        ".dir-locals-2.el",
        ".roo/rules.md",
        ".kiro/x",
        ".continue/config.yaml",
        ".amazonq/x",
      ],
      ...[
        ".lintstagedrc.mjs",
        "lint-staged.config.js",
        ".commitlintrc",
        "commitlint.config.ts",
        ".overcommit.yml",
      ],
      ...["flake.nix", "a/shell.nix", "devenv.nix", ".vimrc", ".gvimrc", ".lvimrc", "a.sublime-project"],
      ...[
        ".gitpod.yml",
        "crush.json",
        ".crush.json",
        ".aider.conf.yml",
        ".windsurf/x",
        ".junie/x",
        ".goosehints",
      ],
      ...["Package.swift", "build.sbt", "project/plugins.sbt", "build.sc", "Directory.Build.targets"],
      ...[
        "phpstan.neon",
        "phpstan.dist.neon",
        "psalm.xml.dist",
        ".golangci.yml",
        "dprint.json",
        "omnisharp.json",
      ],
      "pnpm-workspace.yaml",
    ]
  ) assert.equal(asks(name, "a", "b"), true, name);
});

Deno.test("a key counts with what is in it and around it, and by any name", () => {
  assert.equal(touchesKeys(["a/b"], ["a/b/c"]), true);
  assert.equal(touchesKeys(["a/b"], ["a"]), true);
  assert.equal(touchesKeys(["a/b"], ["a/c"]), false);
  assert.equal(touchesKeys(["a/*/c"], ["a/x/c/d"]), true);
  assert.deepEqual(changedKeys("a.json", { before: '{"a/b": 1}', after: '{"a/b": 2}' }), ["a\u2215b"]);
});

Deno.test("hostile manifests are read in time in proportion", () =>
  assertEachLinear([
    ["a.json", "[", ""],
    ["a.json", '{"a":', ""],
    ["a.jsonc", "/* ", ""],
    ["a.json", "{a:'", ""],
    ["a.toml", "[[a]]\n", ""],
    ["a.toml", "a = [", ""],
    ["a.toml", 'a."b" = 1\n', "[x]\n"],
    ["a.cfg", "[a]\nb = c\n  d\n", ""],
    ["a.cfg", " a:", ""],
    ["a.cfg", "    ", "a", "b"],
    ["a.csproj", "<b/>", "<a>", "</a>"],
    ["a.csproj", "<!--", "<a>"],
    ["a.csproj", " b='c'", "<a", "<"],
    ["a.csproj", "    ", "<a", "<"],
    ["pom.xml", "<a>", ""],
  ], ([name = "", part = "", start = "", end = ""], size) => {
    const after = start + part.repeat(size) + end;
    return () => changedKeys(name, { before: "", after });
  }, 1_000));
