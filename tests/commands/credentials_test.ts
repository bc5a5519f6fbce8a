/**
 * Credentials of tools whose folders commands see: a canary lies in each place where a tool documents that it keeps
 * some, and no command that only looks finds one. What the tools need stays visible.
 */
import assert from "node:assert/strict";
import { commandRunner } from "../support/command_sandbox.ts";
import { scratch } from "../support/project.ts";

const CANARY = "canary-7f3a";

/** Below the home folder, by tool. */
const CREDENTIALS: Readonly<Record<string, readonly string[]>> = {
  // cargo login, cargo.toml; remotes of git dependencies can name a token.
  cargo: [
    ".cargo/credentials.toml",
    ".cargo/credentials",
    ".cargo/config.toml",
    ".cargo/git/db/crate-1/config",
    ".cargo/registry/index/private-1/.git/config",
  ],
  // docs.npmjs.com, "npmrc": per user, and global below each prefix.
  npm: [
    ".npmrc",
    ".npm-global/etc/npmrc",
    ".nvm/versions/node/v24.0.0/etc/npmrc",
    ".volta/tools/image/node/24.0.0/etc/npmrc",
    ".fnm/node-versions/v24.0.0/installation/etc/npmrc",
    ".local/share/fnm/node-versions/v24.0.0/installation/etc/npmrc",
    ".n/etc/npmrc",
    ".n/n/versions/node/24.0.0/etc/npmrc",
    ".asdf/installs/nodejs/24.0.0/etc/npmrc",
    ".local/share/mise/installs/node/24.0.0/etc/npmrc",
    ".local/share/pnpm/nodejs/24.0.0/etc/npmrc",
    ".local/share/pnpm/rc",
    ".config/pnpm/rc",
    ".config/pnpm/auth.ini",
  ],
  yarn: [".yarnrc.yml", ".yarnrc"],
  bun: [".bunfig.toml", ".bun/install/global/.npmrc", ".bun/install/global/bunfig.toml"],
  // pip.pypa.io, "Configuration": the site-level file lies in the environment.
  pip: [
    ".pypirc",
    ".config/pip/pip.conf",
    ".pyenv/versions/3.13/pip.conf",
    ".pyenv/versions/3.13/envs/app/pip.conf",
    ".asdf/installs/python/3.13/pip.conf",
    ".local/share/mise/installs/python/3.13/pip.conf",
    ".local/share/hatch/env/virtual/app/a1/app/pip.conf",
    ".virtualenvs/app/pip.conf",
    ".local/share/virtualenvs/app-1/pip.conf",
    ".cache/pypoetry/virtualenvs/app-1/pip.conf",
    ".local/share/pipx/venvs/tool/pip.conf",
    ".local/pipx/venvs/tool/pip.conf",
    ".local/share/uv/tools/tool/pip.conf",
    ".local/share/uv/credentials/credentials.toml",
    ".config/pypoetry/auth.toml",
  ],
  // virtualenvwrapper.readthedocs.io, "Per-User Customization": hooks export variables.
  virtualenvwrapper: [".virtualenvs/postactivate", ".virtualenvs/app/bin/postactivate"],
  // docs.conda.io, "Managing environments": variables of an environment, and its .condarc.
  conda: [
    ".condarc",
    "miniconda3/.condarc",
    "miniconda3/envs/app/.condarc",
    "miniforge3/envs/app/conda-meta/state",
    "anaconda3/envs/app/etc/conda/activate.d/env_vars.sh",
    "miniconda3/envs/app/pip.conf",
  ],
  gem: [
    ".gem/credentials",
    ".local/share/gem/credentials",
    ".bundle/config",
    ".rbenv/versions/3.4.0/etc/gemrc",
    ".rvm/rubies/ruby-3.4.0/etc/gemrc",
  ],
  composer: [".composer/auth.json", ".config/composer/auth.json"],
  // learn.microsoft.com: private keys of certificates.
  dotnet: [".dotnet/corefx/cryptography/x509stores/my/key.pfx", ".nuget/NuGet/NuGet.Config"],
  opam: [".opam/plugins/opam-publish/token"],
  deno: [".cache/deno/location_data/1/local_storage", ".deno/credentials"],
  maven: [
    ".m2/settings.xml",
    ".m2/settings-security.xml",
    ".sdkman/candidates/maven/3.9.9/conf/settings.xml",
    ".asdf/installs/maven/3.9.9/conf/settings.xml",
    ".local/share/mise/installs/maven/3.9.9/conf/settings.xml",
  ],
  gradle: [".gradle/gradle.properties", ".gradle/init.gradle"],
  hex: [".hex/hex.config"],
  go: ["go/pkg/mod/cache/vcs/1/config", ".netrc", ".config/go/env"],
  haskell: [".cabal/config"],
  julia: [".julia/servers/pkg.julialang.org/auth.toml"],
  dart: [".pub-cache/credentials.json", ".config/dart/pub-credentials.json"],
  nix: [".config/nix/nix.conf", ".config/nix/netrc"],
  git: [".git-credentials", ".config/git/credentials", ".config/gh/hosts.yml"],
  cloud: [
    ".aws/credentials",
    ".config/gcloud/credentials.db",
    ".azure/msal_token_cache.json",
    ".kube/config",
  ],
  containers: [".docker/config.json", ".config/containers/auth.json"],
  keys: [".ssh/id_ed25519", ".gnupg/private-keys-v1.d/1.key", ".vault-token"],
};

/** What looks need of the same folders. */
const NEEDED = [
  ".cargo/bin/rg",
  ".cargo/registry/src/crate/lib.rs",
  ".nvm/versions/node/v24.0.0/bin/node",
  ".asdf/installs/nodejs/24.0.0/bin/node",
  ".pyenv/versions/3.13/lib/python3.13/os.py",
  ".virtualenvs/app/bin/python",
  "miniconda3/envs/app/bin/python",
  ".local/share/gem/ruby/3.4.0/gems/a.rb",
  ".dotnet/sdk/9.0.100/MSBuild.dll",
  ".dotnet/tools/tool",
  ".opam/default/bin/ocaml",
  ".cache/deno/npm/registry.npmjs.org/a/index.js",
  ".sdkman/candidates/maven/3.9.9/bin/mvn",
  "go/pkg/mod/a@v1/a.go",
];

Deno.test({
  name: "no look finds a credential in a toolchain's folder, and each sees the tools",
  ignore: Deno.build.os !== "linux",
  async fn() {
    const places = Object.values(CREDENTIALS).flat();
    await using home = await scratch({
      ...Object.fromEntries(places.map((path) => [path, `${CANARY} ${path}\n`])),
      ...Object.fromEntries(NEEDED.map((path) => [path, "needed\n"])),
    });
    // A toolchain can lie elsewhere, with a link at its usual name.
    await Deno.mkdir(home.path("elsewhere"));
    await Deno.rename(home.path(".nvm"), home.path("elsewhere/nvm"));
    await Deno.symlink("elsewhere/nvm", home.path(".nvm"));
    await using project = await scratch({ "a.txt": "a\n" });
    await using state = await scratch();
    const { run } = commandRunner([project.root], state.root, [], { home: home.root });
    const { output } = await run("look", `cd ~ && grep -Rsh ${CANARY} . ; find . -type f | sort`);
    const [found, visible] = [output.split("\n").filter((line) => line.includes(CANARY)), output.split("\n")];
    assert.deepEqual(found, []);
    assert.deepEqual(NEEDED.filter((path) => !visible.includes(`./${path}`)), []);
  },
});
