/** Tools of developers and of administrators, by what their subcommands do. Data only. */
import type { Program } from "./program.ts";

const installs = "installs packages, which may run their own scripts";
const publishes = "publishes to others";
const account = "changes or shows an account's secrets";
const builds = "builds or runs what the project says";
const deletes = "deletes what others use";
const system = "changes the system";

const SCRIPTS =
  "run, run-script, start, stop, restart, test, t, tst, rebuild, prune, dedupe, link, ln, pack, version, init, create, exec, ci, i, in, install, add, remove, rm, uninstall, un, update, up, upgrade, set, cache";
const NODE_READS =
  "ls, list, ll, la, view, info, show, v, why, explain, outdated, ping, whoami, root, prefix, bin, query, search, find-dupes, config get, config list, config ls, get";
const NODE_PUBLISHES =
  "publish, unpublish, deprecate, undeprecate, dist-tag, owner, access, team, org, star, unstar, hook, stage";
const NODE_ACCOUNT =
  "token, adduser, add-user, login, logout, profile, trust, config set, config delete, config edit, c set, set";
const NODE_NETWORK =
  "install, i, in, ci, add, update, up, upgrade, outdated, view, info, show, search, ping, whoami, audit, publish, unpublish, dlx, create, init, exec, x, dist-tag, owner, access, token, login";

const node: Program = {
  base: ["medium", builds],
  valued: "--prefix -C -w -F --workspace --filter --registry --cwd --dir --userconfig --cache --otp --tag",
  subcommands: [
    ["none", NODE_READS, "only asks"],
    ["none", "audit", "only asks"],
    ["medium", "audit fix, audit signatures", installs],
    ["high", NODE_PUBLISHES, publishes],
    ["high", NODE_ACCOUNT, account],
    [
      "high",
      "run deploy, run publish, run release, run-script deploy, run-script publish, run-script release, deploy, release",
      publishes,
    ],
    ["medium", SCRIPTS, builds],
  ],
  options: [[
    "high",
    "-g --global --location --userconfig --script-shell --registry",
    "changes more than the project",
  ]],
  // Any setting may be given as an option, programs and files to write among them.
  harmless:
    "-l --long -p --parseable -w --workspace --workspaces -ws --include-workspace-root --depth --omit --include --prod --production --dev --only --link --unicode --prefix --loglevel --audit-level --package-lock-only -C",
  network: NODE_NETWORK,
};

/** They load what the project names before they do anything: yarnPath and plugins, .pnpmfile.cjs. */
const nodeWithHooks: Program = {
  ...node,
  subcommands: (node.subcommands ?? []).filter(([severity]) => severity !== "none"),
};

const pip: Program = {
  base: ["medium", installs],
  subcommands: [
    [
      "none",
      "list, show, freeze, check, help, debug, inspect, cache list, cache dir, config list, pip list, pip show, pip freeze, pip check, python list, self version",
      "only asks",
    ],
    [
      "medium",
      "install, download, wheel, uninstall, add, sync, lock, pip install, venv, build, init",
      installs,
    ],
    ["high", "publish, upload, config set, cache purge, self update, tool install, auth, config", publishes],
  ],
  options: [[
    "high",
    "--index-url --extra-index-url --trusted-host --break-system-packages --user --target -i",
    "installs from or to elsewhere",
  ]],
  valued: "--format --path --exclude",
  harmless:
    "-o --outdated -u --uptodate -e --editable -l --local -i --include-editable --exclude-editable --not-required --path --exclude -f --files --disable-pip-version-check --no-python-version-warning --isolated",
  network:
    "install, download, wheel, add, sync, lock, pip install, publish, upload, index, search, tool install",
};

const packages: Program = {
  base: ["high", system],
  subcommands: [
    [
      "none",
      "list, search, show, info, policy, depends, rdepends, deps, uses, leaves, outdated, files, repolist, why, history, query",
      "only asks",
    ],
  ],
  harmless: "--installed --upgradable --versions --all-versions --names-only -n --cask --formula --tree",
  network: true,
};

const containers: Program = {
  base: ["medium", "changes containers"],
  valued: "-f -p -H --file --project-name --host --context --profile --env-file",
  subcommands: [
    [
      "none",
      "ps, images, logs, inspect, version, info, port, top, diff, history, search, stats, events, image ls, image inspect, image history, container ls, container inspect, container logs, volume ls, volume inspect, network ls, network inspect, compose ps, compose logs, compose images, compose ls, compose top, context ls, system df, system info, manifest inspect",
      "only asks",
    ],
    [
      "high",
      "push, login, logout, image push, manifest push, compose push, trust, plugin, swarm, stack, service, node, secret, config, context",
      publishes,
    ],
    [
      "high",
      "rm, rmi, kill, system prune, volume rm, volume prune, container rm, container prune, image rm, image prune, network rm, network prune, builder prune, compose rm, compose kill, compose down, cp, import, load, commit",
      "deletes or overwrites containers' data",
    ],
  ],
  options: [["high", "--privileged --volumes -v --prune --rmi", "goes beyond the container"]],
  harmless:
    "-f --follow --filter -n --last -l --latest --no-trunc -s --size --tail --since --until -t --timestamps --no-stream --digests --type --services --file -p --project-name",
  network:
    "pull, push, login, build, run, compose up, compose pull, compose build, image pull, image push, search",
};

const cluster: Program = {
  base: ["high", "changes a cluster"],
  valued: "-n --namespace --context --kubeconfig -o -l -f --output --selector",
  subcommands: [
    [
      "none",
      "get, describe, logs, version, explain, api-resources, api-versions, cluster-info, top, config view, config current-context, config get-contexts, diff, events, auth can-i, wait, list, ls, status, history, show, search, template, lint, env, repo list, dependency list",
      "only asks",
    ],
    [
      "high",
      "get secret, get secrets, describe secret, describe secrets, config view --raw, create token",
      account,
    ],
    ["high", "delete, drain, uninstall, rollback, replace", deletes],
    ["medium", "cluster-info dump, template, diff", "may start programs and write files"],
  ],
  // Not --kubeconfig, --server and the like: whom to ask, and which program signs in.
  harmless:
    "-n --namespace -A --all-namespaces -o --output -l --selector -w --watch --show-labels --tail -f --follow --previous -p -c --container --since --sort-by --field-selector --no-headers --context --show-kind --timestamps --for --timeout --short --client",
  options: [["critical", "--all --all-namespaces-delete", "acts on everything in the cluster"], [
    "high",
    "--raw --force",
    "goes beyond what is asked",
  ]],
  network: true,
};

const infrastructure: Program = {
  base: ["medium", "reads the state of infrastructure"],
  valued: "-chdir --stack -s -C --cwd",
  subcommands: [
    [
      "none",
      "version, output, workspace list, workspace show",
      "only asks",
    ],
    [
      "high",
      "apply, destroy, import, taint, untaint, state rm, state mv, state push, force-unlock, workspace delete, login, logout, up, refresh, cancel, rm, console, stack rm, test",
      "changes infrastructure",
    ],
  ],
  network: true,
};

const site: Program = {
  base: ["medium", "talks to a service"],
  subcommands: [
    ["none", "help, version", "only asks"],
    [
      "high",
      "deploy, publish, up, push, release, destroy, delete, remove, rm, apps:destroy, pg:reset, config:set, secrets, secret, env, login, logout, auth, promote, rollback, alias, domains, scale, ssh, run, exec, launch, --prod",
      publishes,
    ],
  ],
  options: [["high", "--prod --production --yes --force", publishes]],
  network: true,
};

const forge: Program = {
  base: ["high", "changes what a code host holds"],
  valued:
    "-R --repo -L --limit -s --state -l --label -A --author -B --base -H --head -S --search -b --branch -w --workflow -u --user",
  harmless:
    "-R --repo -q --jq --template -L --limit -s --state --label -l --author -A --assignee --base -B --head -H --search -S -c --comments --log --log-failed --name-only --patch --required --watch --exit-status --workflow --branch -b --draft -d --hostname --job -j --owner --match --language --sort --order --conflict-status --include-prs",
  subcommands: [
    [
      "none",
      "status, version, help, repo view, repo list, pr view, pr list, pr status, pr diff, pr checks, issue view, issue list, issue status, run list, run view, run watch, workflow list, workflow view, release list, release view, gist list, gist view, label list, search, auth status, mr list, mr view, mr diff, ci status, ci view, ci list, cache list, org list, extension list, ruleset list, ruleset view",
      "only asks",
    ],
    [
      "medium",
      "pr checkout, repo clone, release download, run download, gist clone, mr checkout, repo fork, repo sync, co",
      "downloads",
    ],
    [
      "high",
      "repo delete, release delete, issue delete, gist delete, repo archive, secret, variable, auth, ssh-key, gpg-key, api, extension, alias, config, codespace",
      account,
    ],
  ],
  options: [["high", "--show-token", account]],
  network: true,
};

const build: Program = {
  base: ["medium", builds],
  valued: "-C -f -j --directory --file --makefile --jobs -p",
  subcommands: [[
    "high",
    "install, uninstall, publish, deploy, release, upload, dist-upload, push",
    "acts outside of the project",
  ]],
  options: [["high", "--eval", "runs code"]],
};

const services: Program = {
  base: ["high", "starts, stops or changes services"],
  subcommands: [[
    "none",
    "status, list-units, list-unit-files, list-timers, show, cat, is-active, is-enabled, is-failed, list, print, blame, list-jobs, list-sockets",
    "only asks",
  ]],
  valued: "-n --lines -t --type -p --property -o --output --state",
  harmless:
    "--user --system --no-pager -l --full -n --lines -t --type -p --property -o --output --state --no-legend --failed --value",
};

const always = (severity: Program["base"][0], reason: string, more: Partial<Program> = {}): Program => ({
  base: [severity, reason],
  ...more,
});

/** Several names may share a row. */
export const TOOLS: Readonly<Record<string, Program>> = {
  "npm cnpm": node,
  "pnpm yarn": nodeWithHooks,
  "pip pip2 pip3 pipx uv conda mamba micromamba easy_install twine": pip,
  // Their plugins and versions come from the project.
  "poetry pipenv pdm hatch rye flit": {
    ...pip,
    subcommands: (pip.subcommands ?? []).filter(([severity]) => severity !== "none"),
  },
  "apt apt-get apt-cache aptitude dpkg dnf yum rpm pacman yay zypper apk snap flatpak port emerge choco winget scoop softwareupdate":
    packages,
  // A formula is a program, and so may a file be that is named.
  brew: {
    ...packages,
    operands: [1, "medium", "may load a file as a formula"],
  },
  "nix nix-env nix-channel": always("high", system, { network: true }),
  "docker podman nerdctl docker-compose podman-compose": containers,
  helmfile: always("medium", "runs what its files say", { network: true }),
  "kubectl oc k3s helm kustomize k9s argocd flux istioctl skaffold minikube kind": cluster,
  "terraform tofu": { ...infrastructure, harmless: "-json -raw -no-color" },
  // They run what the project's files say, whatever they are asked.
  "terragrunt pulumi cdk ansible ansible-playbook packer vagrant nomad": {
    ...infrastructure,
    subcommands: (infrastructure.subcommands ?? []).filter(([severity]) => severity !== "none"),
  },
  "heroku vercel netlify fly flyctl firebase wrangler surge now render railway supabase amplify eas expo cf":
    site,
  "gh glab hub tea": forge,
  "make gmake nmake ninja just task mage rake invoke ant mvn mvnw gradle gradlew sbt lein bazel buck pants scons meson cmake waf tox nox doit earthly turbo nx lerna":
    build,
  "systemctl service rc-service rc-update initctl launchctl supervisorctl pm2 sv": services,
  cargo: {
    base: ["medium", builds],
    valued: "-p -F -j --package --features --manifest-path --target --color -Z -C --config",
    subcommands: [
      [
        "none",
        "help, version, locate-project, read-manifest, pkgid, verify-project",
        "only asks",
      ],
      ["high", "publish, yank, owner, login, logout", publishes],
      ["medium", "install, uninstall, add, remove, update, fetch, vendor", installs],
    ],
    options: [["high", "--config", "takes other settings"]],
    harmless: "--manifest-path -p --package --message-format --offline --frozen --locked --workspace",
    network: "install, add, update, fetch, vendor, search, publish, yank, owner, login, info",
  },
  rustup: {
    base: ["medium", installs],
    subcommands: [[
      "none",
      "which, toolchain list, target list, component list, check",
      "only asks",
    ], ["high", "self uninstall, self update, toolchain uninstall", system]],
    harmless: "--installed --toolchain",
    network: true,
  },
  go: {
    base: ["medium", builds],
    subcommands: [
      ["none", "version, env, list, doc, help, mod graph, mod why, mod verify", "only asks"],
      ["medium", "get, install, mod download, mod tidy, work sync", installs],
    ],
    valued: "-f -tags",
    options: [[
      "high",
      "-exec -toolexec -vettool -w --exec --toolexec --vettool",
      "starts another program or changes settings",
    ]],
    harmless: "-json -f -m -deps -test -e -find -tags -short -src -cmd -all -c -vendor -changed",
    network: "get, install, mod download, mod tidy, list -m",
  },
  deno: {
    base: ["medium", builds],
    subcommands: [
      ["none", "info, types, check, doc, help, outdated, why", "only asks"],
      [
        "medium",
        "coverage, fmt, lint, test, bench, task, cache, install, add, remove, compile, bundle, run, uninstall, update, vendor, init, serve, jupyter, repl, clean",
        builds,
      ],
      ["high", "publish, deploy, upgrade, login", publishes],
    ],
    valued: "-c --config --import-map",
    harmless:
      "-c --config --no-config --no-lock --frozen --cached-only --no-remote --no-npm --import-map --unstable --all --doc --private --filter",
    network: "cache, install, add, publish, deploy, upgrade, update, outdated",
  },
  bun: {
    base: ["medium", builds],
    subcommands: [
      ["none", "pm ls, pm bin, outdated, why, info, help", "only asks"],
      ["medium", "install, i, add, remove, update, test, build, run, create, init, link, x, pm", builds],
      ["high", "publish, upgrade, deploy", publishes],
    ],
    network: "install, i, add, update, publish, upgrade, create, x, outdated, info",
  },
  "bundle bundler": {
    // Whatever it is asked, it evaluates the Gemfile.
    base: ["medium", installs],
    subcommands: [["high", "config set, release, config", publishes]],
    network: "install, update, outdated, add, lock",
  },
  gem: {
    base: ["medium", installs],
    subcommands: [[
      "none",
      "list, env, info, outdated, contents, which, environment, check, search, dependency",
      "only asks",
    ], ["high", "push, yank, owner, signin, signout, config set, release, config", publishes]],
    harmless: "-i --installed --local --no-details -d --details --versions --exact",
    network: "install, update, outdated, push, yank, owner, search, add, lock",
  },
  composer: {
    // The plugins in the project's vendor folder are loaded whatever it is asked.
    base: ["medium", installs],
    subcommands: [["high", "config, global", system]],
    network: "install, update, require, outdated, create-project",
  },
  dotnet: {
    base: ["medium", builds],
    subcommands: [["none", "sln list, help", "only asks"], [
      "high",
      "nuget push, nuget delete, nuget",
      publishes,
    ]],
    network: "restore, add, nuget, tool",
  },
  mix: {
    base: ["medium", builds],
    subcommands: [["high", "hex.publish, hex.user, hex.owner, ecto.drop, ecto.reset", publishes]],
  },
  stack: { base: ["medium", builds], subcommands: [["high", "upload, upgrade", publishes]] },
  cabal: { base: ["medium", builds], subcommands: [["high", "upload", publishes]] },
  flutter: {
    base: ["medium", builds],
    subcommands: [["none", "doctor, devices", "only asks"], [
      "high",
      "pub publish, upgrade, channel",
      publishes,
    ]],
  },
  dart: { base: ["medium", builds], subcommands: [["high", "pub publish, pub token", publishes]] },
  swift: always("medium", builds),
  "pod fastlane": {
    base: ["medium", builds],
    subcommands: [["high", "trunk, release, deliver, pilot, supply", publishes]],
  },
  "at batch anacron": always("high", "runs commands later"),
  "shutdown reboot halt poweroff init telinit kexec": always("critical", "stops the machine"),
  "mkfs mke2fs mkswap mkdosfs newfs fdisk sfdisk cfdisk gdisk sgdisk parted gparted wipefs blkdiscard hdparm cryptsetup mdadm lvremove vgremove pvremove lvcreate lvreduce zpool zfs btrfs badblocks debugfs tune2fs resize2fs e2fsck fsck diskutil format flashrom fwupdmgr efibootmgr nvram bcdedit diskpart testdisk":
    always("critical", "changes disks or firmware"),
  "mount umount losetup swapon swapoff fusermount": always("high", "changes what is mounted"),
  "insmod modprobe rmmod depmod dkms grub-install update-grub update-initramfs ldconfig update-alternatives":
    always("high", system),
  sysctl: { base: ["high", system], options: [] },
  "iptables ip6tables nft ufw firewall-cmd pfctl route ipset nmcli wpa_supplicant rfkill tc brctl": always(
    "high",
    "changes the network",
  ),
  "useradd userdel usermod adduser deluser groupadd groupdel groupmod passwd chpasswd visudo vipw chsh chfn newgrp gpasswd dscl pwconv":
    always("high", "changes users"),
  "setcap setenforce semanage restorecon apparmor_parser aa-disable auditctl spctl csrutil tccutil": always(
    "high",
    "changes the system's protection",
  ),
  "chattr setfacl xattr": always("high", "changes files' attributes"),
  "timedatectl hwclock hostnamectl localectl loginctl ntpdate": always("high", system),
  "defaults networksetup scutil systemsetup pmset launchd tmutil dseditgroup reg regedit schtasks sc netsh wmic setx takeown icacls":
    always("high", system),
  "del erase rd deltree cipher vssadmin": always("high", "deletes files"),
  "security secret-tool keyring pass op vault bw lpass gopass keychain aws-vault chamber doppler infisical":
    always("high", "reads or writes secrets"),
  "gpg gpg2 age sops ssh-add ssh-agent ssh-copy-id ssh-keygen certbot step mkcert": always(
    "high",
    "uses or changes keys",
  ),
  openssl: {
    base: ["medium", "uses keys"],
    subcommands: [
      ["high", "s_client, s_server, enc, genrsa, pkcs12, pkey, rsa", "uses keys or the network"],
      ["none", "version, dgst, rand, list", "only computes"],
    ],
    harmless:
      "-hex -base64 -r -c -sha1 -sha224 -sha256 -sha384 -sha512 -md5 -sha3-256 -sha3-512 -blake2b512 -hmac",
  },
  "mail mailx sendmail mutt msmtp swaks telegram-send slack ntfy apprise": always("high", "sends a message", {
    network: true,
  }),
  "ngrok cloudflared localtunnel lt bore tailscale wg wg-quick openvpn serveo frpc chisel ligolo": always(
    "high",
    "opens the machine to the network",
    { network: true },
  ),
  "nmap masscan hydra sqlmap msfconsole john hashcat aircrack-ng tcpdump tshark wireshark ettercap bettercap responder":
    always("high", "attacks or listens", { network: true }),
  "xmrig cpuminer minerd ethminer": always("critical", "mines coins", { network: true }),
  "xdg-open open start gio wslview sensible-browser firefox chromium google-chrome": always(
    "medium",
    "opens something on the desktop",
    { network: true },
  ),
  "pbcopy xclip xsel wl-copy clip pbpaste wl-paste": always("medium", "uses the clipboard"),
  "xdotool ydotool cliclick wmctrl": always("high", "types and clicks"),
  "tmux screen zellij dtach abduco byobu": always("medium", "starts a session that stays"),
  "enable bind": always("high", "changes what the shell runs"),
  complete: always("medium", "changes what the shell completes"),
  fc: always("high", "runs commands from the history"),
  "gzip gunzip bzip2 bunzip2 xz unxz lzma zstd unzstd lz4 compress uncompress brotli pigz": {
    base: ["medium", "replaces files"],
    options: [],
  },
  "unzip 7z 7za 7zr unrar unar ar cpio jar bsdtar dpkg-deb": always("medium", "packs or unpacks files"),
  "split csplit mkfifo patch": always("medium", "writes files"),
  mknod: always("high", "makes a device"),
  "prettier eslint biome oxlint dprint black ruff isort autopep8 gofmt goimports rustfmt clang-format stylua shfmt":
    always("medium", "checks or rewrites files"),
  "jest vitest mocha ava pytest tox playwright cypress phpunit rspec ctest busted": always(
    "medium",
    "runs tests",
  ),
  "tsc vite webpack rollup esbuild swc parcel next nuxt astro rustc gcc g++ clang clang++ cc c++ javac kotlinc zig ld as":
    always("medium", builds),
  "ffmpeg convert magick gs pandoc soffice wkhtmltopdf inkscape dot": always("medium", "makes files"),
  "code cursor subl idea atom gedit kate zed nano pico micro hx helix kak joe": always(
    "medium",
    "starts an editor",
  ),
  "dropdb createdb pg_restore mysqladmin pg_ctl initdb redis-server mongod": always(
    "high",
    "changes or deletes databases",
  ),
  "pg_dump mysqldump mongodump mongoexport": always("medium", "copies a database", { network: true }),
  "dotnet-ef alembic flyway liquibase prisma knex sequelize typeorm drizzle-kit dbmate goose rails": {
    base: ["medium", "changes a database's form"],
    subcommands: [[
      "high",
      "db:drop, db:reset, migrate reset, database drop, downgrade, clean, drop, drop-all, db push, db:purge",
      "deletes what a database holds",
    ]],
  },
};
