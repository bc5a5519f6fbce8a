/** Tools of developers and of administrators, by what their subcommands do. Data only. */
import { build, node, nodeWithHooks, packages, pip } from "./package_tools.ts";
import { builds, installs, type Program, publishes, system } from "./program.ts";
import { cluster, containers, forge, infrastructure, services, site } from "./service_tools.ts";

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
