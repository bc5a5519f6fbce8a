/**
 * The visible places of a command's sandbox beside the project: the mount tree starts empty, and this is all
 * that is added. One row for each place, with its reason. No place may contain credentials: of a tool's
 * folder, only the parts with programs, libraries and downloaded packages are listed.
 */

interface ShownPlace {
  /** Absolute, or below the home folder if it begins with "~/". Missing paths are skipped. */
  readonly path: string;
  readonly reason: string;
}

const row = (reason: string, ...paths: readonly string[]): readonly ShownPlace[] =>
  paths.map((path) => ({ path, reason }));

/** System folders; /bin, /lib and so on are added as the machine has them. */
const SYSTEM: readonly ShownPlace[] = [
  ...row("programs and libraries", "/usr"),
  ...row("settings of programs, users and certificates, without keys", "/etc"),
  ...row("programs that are installed beside the distribution's", "/opt"),
  ...row("packages of Nix and Guix, and the links that lead to them", "/nix/store", "/gnu/store"),
  ...row("the programs of a NixOS system: links into its store", "/run/current-system/sw"),
  ...row("Homebrew on Linux", "/home/linuxbrew/.linuxbrew"),
  ...row("what is installed, for dpkg -l and apt-cache", "/var/lib/dpkg"),
  ...row("gems that were installed for all users, and what TeX has built", "/var/lib/gems", "/var/lib/texmf"),
];

/** Toolchains in the home folder. */
const HOME: readonly ShownPlace[] = [
  ...row("cargo's programs and downloaded crates", "~/.cargo/bin", "~/.cargo/registry", "~/.cargo/git"),
  ...row("Rust toolchains", "~/.rustup"),
  ...row("Node versions and their programs", "~/.nvm", "~/.volta", "~/.fnm", "~/.local/share/fnm", "~/.n"),
  ...row("programs that npm has installed for the user", "~/.npm-global/bin", "~/.npm-global/lib"),
  ...row(
    "package managers of Node",
    "~/.cache/node/corepack",
    "~/.local/share/pnpm",
    "~/.bun/bin",
    "~/.bun/install",
  ),
  ...row(
    "Deno and the modules that it has downloaded",
    "~/.deno/bin",
    ...["npm", "remote", "deps", "gen", "registries"].map((name) => `~/.cache/deno/${name}`),
  ),
  ...row("versions of many languages", "~/.asdf", "~/.tool-versions", "~/.local/share/mise", "~/.sdkman"),
  ...row("Python versions and tools", "~/.pyenv", "~/.local/share/uv/python", "~/.local/share/uv/tools"),
  ...row("programs of Python's that pipx has installed", "~/.local/share/pipx/venvs", "~/.local/pipx/venvs"),
  ...row(
    "Python environments of poetry, pipenv, virtualenvwrapper and hatch",
    "~/.cache/pypoetry/virtualenvs",
    "~/.local/share/virtualenvs",
    "~/.virtualenvs",
    "~/.local/share/hatch/env",
  ),
  // Not the whole folder: it contains .condarc, with the addresses of channels.
  ...["~/miniconda3", "~/miniforge3", "~/anaconda3"].flatMap((folder) =>
    row("conda's programs and environments", `${folder}/bin`, `${folder}/lib`, `${folder}/envs`)
  ),
  ...row("packages of PHP, and its tools", "~/.config/composer/vendor", "~/.composer/vendor"),
  ...row("packages that Yarn loads from its cache", "~/.yarn/berry/cache"),
  ...row("programs and libraries of the user's own", "~/bin", "~/.local/bin", "~/.local/lib"),
  ...row("Ruby versions and gems", "~/.rbenv", "~/.rvm", "~/.gem/ruby", "~/.local/share/gem/ruby"),
  ...row("Go: programs and downloaded modules", "~/go/bin", "~/go/pkg", "~/sdk"),
  ...row("packages of Java and Kotlin", "~/.m2/repository", "~/.gradle/caches", "~/.gradle/wrapper"),
  ...row("packages of .NET", "~/.nuget/packages"),
  ...row(
    ".NET and its tools",
    ...[
      "dotnet",
      "host",
      "sdk",
      "sdk-manifests",
      "shared",
      "packs",
      "templates",
      "tools",
      "toolResolverCache",
    ]
      .map((name) => `~/.dotnet/${name}`),
  ),
  ...row(
    "packages of Haskell, OCaml, Elixir, Dart",
    "~/.ghcup",
    "~/.cabal/packages",
    "~/.opam",
    "~/.mix",
    "~/.hex/packages",
  ),
  ...row("Zig, Swift and Julia", "~/.cache/zig", "~/.swiftly", "~/.juliaup", "~/.julia/packages"),
  ...row("browsers that tests drive", "~/.cache/ms-playwright", "~/.cache/puppeteer", "~/.cache/Cypress"),
  ...row("which files git passes over", "~/.config/git/ignore", "~/.config/git/attributes"),
  ...row("programs of the user's Nix profile", "~/.nix-profile", "~/.local/state/nix/profiles"),
];

export const SHOWN: readonly ShownPlace[] = [...SYSTEM, ...HOME];

/** Prefixes of Node in version managers; each contains npm's global settings. */
const NODES = [
  "~/.nvm/versions/node/*",
  "~/.volta/tools/image/node/*",
  "~/.fnm/node-versions/*/installation",
  "~/.local/share/fnm/node-versions/*/installation",
  "~/.n",
  "~/.n/n/versions/node/*",
  "~/.asdf/installs/nodejs/*",
  "~/.local/share/mise/installs/node/*",
  "~/.local/share/pnpm/nodejs/*",
];
const PYTHONS = [
  ...[
    "~/.pyenv/versions/*",
    "~/.pyenv/versions/*/envs/*",
    "~/.virtualenvs/*",
    "~/.local/share/virtualenvs/*",
  ],
  ...["~/.cache/pypoetry/virtualenvs/*", "~/.local/share/pipx/venvs/*", "~/.local/pipx/venvs/*"],
  ...["~/.local/share/uv/tools/*", "~/.local/share/hatch/env/*/*/*/*", "~/.asdf/installs/python/*"],
  ...["~/.local/share/mise/installs/python/*"],
];
const CONDAS = ["~/miniconda3/envs/*", "~/miniforge3/envs/*", "~/anaconda3/envs/*"];

/** Hidden places in the toolchains of the home folder; "*" is any name. */
const HIDDEN_AT_HOME: readonly ShownPlace[] = [
  ...row("npm's global settings, with its logins", ...NODES.map((prefix) => `${prefix}/etc`)),
  ...row("settings of pnpm", "~/.local/share/pnpm/rc"),
  ...row("settings of bun", "~/.bun/install/global/.npmrc", "~/.bun/install/global/bunfig.toml"),
  ...row(
    "pip's settings of an environment",
    ...[...PYTHONS, ...CONDAS].map((prefix) => `${prefix}/pip.conf`),
  ),
  ...row(
    "hooks of virtualenvwrapper, which export variables",
    ...["postactivate", "preactivate", "postdeactivate", "predeactivate"].flatMap((name) => [
      `~/.virtualenvs/${name}`,
      `~/.virtualenvs/*/bin/${name}`,
    ]),
  ),
  ...row(
    "variables and channels of conda's environments",
    ...CONDAS.flatMap((
      prefix,
    ) => [`${prefix}/etc/conda`, `${prefix}/conda-meta/state`, `${prefix}/.condarc`]),
  ),
  ...row("sources of gems", "~/.rbenv/versions/*/etc", "~/.rvm/rubies/*/etc"),
  ...row(
    "Maven's settings",
    ...["~/.sdkman/candidates/maven/*", "~/.asdf/installs/maven/*", "~/.local/share/mise/installs/maven/*"]
      .map((prefix) => `${prefix}/conf/settings.xml`),
  ),
  ...row("the login of opam-publish", "~/.opam/plugins/opam-publish"),
  ...row(
    "addresses of git repositories, which can hold a token",
    ...[
      "~/.cargo/git/db/*/config",
      "~/.cargo/registry/index/*/.git/config",
      "~/go/pkg/mod/cache/vcs/*/config",
    ],
  ),
];

/**
 * Hidden places inside of visible ones, for every user. Files in /etc that are not readable for everybody are
 * hidden too.
 */
export const HIDDEN: readonly ShownPlace[] = [
  ...HIDDEN_AT_HOME,
  ...row(
    "passwords",
    "/etc/shadow",
    "/etc/shadow-",
    "/etc/gshadow",
    "/etc/gshadow-",
    "/etc/security/opasswd",
  ),
  ...row("who may become root", "/etc/sudoers", "/etc/sudoers.d"),
  ...row("keys of the machine", "/etc/ssh", "/etc/ssl/private", "/etc/pki/tls/private", "/etc/krb5.keytab"),
  ...row(
    "keys of networks",
    "/etc/NetworkManager/system-connections",
    "/etc/wpa_supplicant",
    "/etc/wireguard",
  ),
  ...row("keys of networks", "/etc/openvpn", "/etc/ipsec.secrets", "/etc/ppp", "/etc/swanctl"),
  ...row("keys of certificates", "/etc/letsencrypt"),
  ...row(
    "logins of package managers and containers",
    "/etc/apt/auth.conf",
    "/etc/apt/auth.conf.d",
    "/etc/docker",
  ),
  ...row(
    "credentials of the cluster and of backups",
    "/etc/kubernetes",
    "/etc/rancher",
    "/etc/borgmatic",
    "/etc/restic",
  ),
  ...row("logins to network drives", "/etc/cifs-credentials", "/etc/samba/private", "/etc/davfs2/secrets"),
];
