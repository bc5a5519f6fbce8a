/**
 * What programs do, as data. A row names commands: words stand for the program and its first operands, `a|b` for either,
 * `x*` for what starts so, `.` for any operand, `$` for no further one; an option has to be there, with `!` before it not.
 * The first row that fits counts. It is what people are told and asked for; what holds is the sandbox.
 */
import { has, readArguments } from "./options.ts";
import { GIT_ROWS } from "./git_programs.ts";
import type { CommandLevel } from "../../protocol/commands.ts";
import { judged, type Judgement, type Severity } from "./severity.ts";

export type Row = readonly [Severity, CommandLevel, reason: string, commands: string, "network"?];

const TESTS = "runs tests or checks";
const BUILDS = "builds or runs what the project says";
const INSTALLS = "installs packages";
const PUBLISHES = "publishes, or changes an account";
const SYSTEM = "changes the system";

const ROWS: readonly Row[] = [
  ...GIT_ROWS,
  // ── Readers that do more with an option ──
  [
    "medium",
    "write",
    "writes a file",
    "sort -o|--output, uniq . ., xxd . ., shuf|iconv|xmllint|tree|base64|base32 -o|--output, yq -i|--inplace|--in-place, file -C, lsof -D, info -o, bat cache, mktemp, hash -p",
  ],
  [
    "medium",
    "look",
    "starts a program",
    "rg --pre|--hostname-bin, sort --compress-program, bat|batcat|delta|ag|ack --pager, nm|objdump --plugin, compgen -C|-F|-W, mapfile|readarray -C, man -P|-H|--pager|--html",
  ],
  [
    "high",
    "write",
    "sets the machine's clock or name",
    "date -s|--set, hostname ., hostname -b|-F, ifconfig . .",
  ],
  [
    "high",
    "write",
    "changes or deletes logs",
    "journalctl --rotate|--vacuum-size|--vacuum-time|--vacuum-files|--flush, dmesg -c|-C|--clear",
  ],
  ["high", "write", "ends connections", "ss -K|--kill"],
  [
    "medium",
    "write",
    "changes a configuration",
    "ip . a|add|d|del|set|change|replace|flush, ip -batch, crontab -r, history -c|-w",
  ],
  // ── Readers ──
  [
    "none",
    "look",
    "only reads",
    "ls|dir|vdir|cat|tac|head|tail|wc|nl|cut|tr|paste|fold|fmt|pr|col|column|expand|unexpand|comm|join|look|rev|od|hexdump|hexyl|xxd|strings|nm|objdump|size|readelf|otool|cksum|sum|md5sum|sha1sum|sha224sum|sha256sum|sha384sum|sha512sum|b2sum|shasum|md5|grep|egrep|fgrep|zgrep|zcat|bzcat|xzcat|zstdcat|rg|ag|ack|sort|uniq|shuf|iconv|tree|base64|base32|info|lsof|cloc|scc|tokei|sdiff|diff3|file|bat|batcat|delta|yq|jq|xmllint|date|cal|hostname|ifconfig|compgen|mapfile|readarray|history|journalctl|dmesg|ss|uuidgen",
  ],
  [
    "none",
    "look",
    "only reads",
    "echo|printf|pwd|which|whereis|type|true|false|test|[|:|whoami|id|groups|logname|arch|nproc|uptime|free|lscpu|lsblk|lsusb|lspci|tty|getconf|seq|sleep|basename|dirname|realpath|readlink|stat|du|df|diff|cmp|colordiff|tsort|factor|expr|numfmt|tput|clear|locate|apropos|whatis|users|who|w|ps|pstree|pgrep|pidof|vmstat|iostat|printenv|locale|uname|netstat|top|shellcheck|exa|eza|lsb_release|sw_vers|ip|man|less|more|most|getent|zipinfo, crontab|gzip|unzip|dpkg -l, dpkg -L, rpm -q|-qa|-qi|-ql, ar t*",
  ],
  [
    "none",
    "look",
    "only reads",
    "cd|pushd|popd|dirs|return|exit|break|continue|shift|set|shopt|local|declare|typeset|readonly|export|read|unset|getopts|let|times|caller|suspend|disown|wait|jobs|umask|ulimit|fg|bg|logout|hash",
  ],
  // ── Tests, linters, type checkers ──
  [
    "medium",
    "look",
    TESTS,
    "npm|pnpm|yarn|bun test|t|tst !-g, npm|pnpm|yarn|bun run|run-script test*|lint|lint:check|typecheck|type-check|tsc|check|check-types !--fix, yarn|pnpm|bun lint|typecheck|check !--fix, deno test|check|lint|bench !--fix, deno fmt --check, deno task test|check|lint",
  ],
  [
    "medium",
    "look",
    TESTS,
    "cargo test|check|clippy|bench|nextest !--fix, cargo fmt --check, cargo tree|metadata, go test|vet !-c|-o|-exec|-toolexec, pytest|py.test|unittest|tox|nox|jest|vitest|mocha|ava|phpunit|rspec|ctest|busted|playwright|doctest|behave, mix|dotnet|swift|flutter|dart|zig|sbt|lein|stack|cabal|bazel|mvn|mvnw|gradle|gradlew|rake|composer|just|task test|check|analyze !-i, rustfmt --check, rspec",
  ],
  [
    "medium",
    "look",
    TESTS,
    "tsc --noEmit, tsc --noemit, vue-tsc --noEmit, eslint|stylelint|oxlint|biome|standard|xo !--fix|--write|--apply|-o|--output-file, mypy|pyright|basedpyright|flake8|pylint|pyflakes|bandit|vulture|pycodestyle|pydocstyle|luacheck|selene|yamllint|hadolint|actionlint|golangci-lint|staticcheck|markdownlint|codespell|typos|rubocop !--fix|-w|--write|-a|-A|--autocorrect|-i, ruff check !--fix|--fix-only, ruff format --check, black|isort|djlint --check, prettier -c|--check|-l|--list-different !--write|-w, gofmt|goimports -l|-d !-w, shfmt -d|-l !-w, stylua --check, clang-format -n|--dry-run !-i, make|gmake|ninja -n|--dry-run|--just-print",
  ],
  // ── What package managers and builders tell ──
  [
    "none",
    "look",
    "only asks",
    "npm ls|list|ll|la|why|explain|root|prefix|bin|query|help|fund, npm config get|list|ls, npm pkg get, npm run $, pnpm|yarn list|ls|why, go version|env|list|doc|help !-w|-u|-toolexec|-mod|-m, go list -m !-u|-toolexec, go mod graph|why|verify, cargo help|version|locate-project|read-manifest|pkgid|verify-project, rustup which|show|check, rustup toolchain|target|component list, pip|pip3 list|show|freeze|check|help|debug|inspect !--log|-o|--outdated, pip|pip3 list, uv pip list|show|freeze|check|tree, uv python list, uv tree|version, poetry show|check|env, deno info|types|doc|help|why, gem list|env|info|contents|which, bundle list|show|info, composer show|validate, dotnet sln list, flutter doctor|devices, brew list|leaves|deps|info, apt list|show|policy, apt-cache|dpkg-query, dnf|yum list|info",
  ],
  ["medium", "write", INSTALLS, "npm|pnpm audit fix", "network"],
  [
    "none",
    "look",
    "only asks",
    "npm|cnpm view|v|info|show|outdated|ping|whoami|search|audit !--fix, cargo search|info, pip index|search, npm audit $, pnpm outdated|audit",
    "network",
  ],
  [
    "none",
    "look",
    "only asks",
    "docker|podman|nerdctl ps|images|logs|inspect|version|info|port|top|diff|history|stats|events, docker|podman image|container|volume|network ls|inspect|logs|history, docker compose ps|logs|images|ls|top|version, docker-compose ps|logs|images|version, docker context ls, docker system df|info",
  ],
  [
    "high",
    "look",
    PUBLISHES,
    "kubectl|oc get|describe secret*, kubectl config view --raw, kubectl create token, gh auth status --show-token|-t, gh auth token",
    "network",
  ],
  [
    "none",
    "look",
    "only asks",
    "kubectl|oc get|describe|logs|version|explain|api-resources|api-versions|cluster-info|top|diff|events, kubectl config current-context|get-contexts|view, helm list|ls|status|history|show|lint|env|version, gh status|version|search, gh repo|pr|issue|run|workflow|release|gist|label|cache|org|ruleset view|list|status|diff|checks|watch !-w|--web, gh auth status, glab mr|issue|ci view|list|status|diff, terraform|tofu version|output|validate|providers, terraform|tofu workspace list|show, systemctl|service status|list-units|list-unit-files|list-timers|show|cat|is-active|is-enabled|is-failed, launchctl list|print, openssl version|dgst|rand !-out|-engine",
  ],
  // ── Publishes, deletes elsewhere ──
  [
    "high",
    "write",
    PUBLISHES,
    "npm|pnpm|yarn|bun|cnpm publish|unpublish|deprecate|dist-tag|owner|access|team|org|token|adduser|login|logout|profile|hook|deploy|release, npm|pnpm|yarn|bun run|run-script deploy*|publish*|release*, npm|yarn|pnpm config|c set|delete|edit, npm set, cargo publish|yank|owner|login|logout, gem push|yank|owner|signin|signout, twine upload, poetry|uv|hatch|flit|pdm publish|upload|config|auth, pip config, deno publish|deploy|upgrade|login, mix hex.*|ecto.drop|ecto.reset, dotnet nuget push|delete, stack|cabal upload, composer config|global, docker|podman push|login|logout|trust|swarm|stack|service|node|secret|config|plugin, docker|podman image|manifest|compose push",
    "network",
  ],
  [
    "high",
    "write",
    "installs for the whole machine",
    "npm|pnpm|yarn|bun install|i|add -g|--global|--location, pip|pip3 install --user|--break-system-packages|--target, uv tool install, pipx install, cargo|go install",
    "network",
  ],
  ["high", "write", "changes settings that programs obey", "go env -w|-u, conda config"],
  [
    "high",
    "write",
    "acts outside of the project",
    "make|gmake|ninja|just|task|rake|mvn|gradle|gradlew|mvnw|scons|meson install|uninstall|publish*|deploy*|release*|upload|push",
  ],
  // ── Installs and builds ──
  [
    "medium",
    "write",
    INSTALLS,
    "npm|pnpm|yarn|bun|cnpm install|i|in|ci|add|update|up|upgrade|create|init|dlx|exec|x|install-test, npm audit|doctor, yarn $, cargo install|add|update|fetch|vendor|generate-lockfile, rustup, go get|install, go mod download|tidy|vendor, go work sync, go list, pip|pip2|pip3 install|download|wheel|uninstall|list, pipx|conda|mamba|micromamba|easy_install, uv sync|lock|add|remove|pip|tool|venv|python|init, poetry|pipenv|pdm|hatch|rye|pixi install|add|update|lock|sync|remove, gem|bundle|bundler|composer, deno install|add|cache|update|outdated, dotnet restore|add|tool, mix deps.get|deps.update|local.hex, flutter|dart pub, luarocks install, cabal update, brew search, docker|podman pull|build|search, docker|podman compose up|pull|build, docker image pull|build, docker-compose up|pull|build, pre-commit install|autoupdate|run",
    "network",
  ],
  [
    "medium",
    "write",
    BUILDS,
    "npm|pnpm|yarn|bun|cnpm|cargo|go|deno|poetry|pipenv|pdm|hatch|rye|pixi|uv|dotnet|mix|stack|cabal|flutter|dart|swift|make|gmake|nmake|ninja|just|mage|task|rake|invoke|ant|mvn|mvnw|gradle|gradlew|sbt|lein|bazel|buck|pants|scons|meson|cmake|waf|doit|earthly|turbo|nx|lerna|tsc|vite|webpack|rollup|esbuild|swc|parcel|next|nuxt|astro|rustc|gcc|g++|clang|clang++|cc|c++|javac|kotlinc|zig|ld|as|nix-build",
  ],
  [
    "medium",
    "write",
    "checks or rewrites files",
    "prettier|eslint|biome|oxlint|dprint|black|ruff|isort|autopep8|gofmt|goimports|rustfmt|clang-format|stylua|shfmt|rubocop|pre-commit",
  ],
  [
    "medium",
    "write",
    "packs or unpacks files",
    "gzip|gunzip|bzip2|bunzip2|xz|unxz|lzma|zstd|unzstd|lz4|compress|uncompress|brotli|pigz|7z|7za|7zr|unrar|unar|ar|cpio|jar|dpkg-deb|zip",
  ],
  [
    "medium",
    "write",
    "writes files",
    "split|csplit|mkfifo|patch|ffmpeg|convert|magick|gs|pandoc|soffice|wkhtmltopdf|inkscape|dot|pg_dump|mysqldump",
  ],
  [
    "medium",
    "write",
    "starts an editor",
    "vi|vim|nvim|view|ex|ed|emacs|nano|pico|micro|hx|helix|kak|joe|code|cursor|subl|idea|kate|zed",
  ],
  [
    "medium",
    "write",
    "opens something on the desktop",
    "xdg-open|open|start|gio|firefox|chromium|google-chrome|pbcopy|xclip|xsel|wl-copy|clip|pbpaste|wl-paste",
    "network",
  ],
  ["medium", "write", "starts a session that stays", "tmux|screen|zellij|dtach|abduco|byobu"],
  [
    "medium",
    "write",
    "reads the state of infrastructure",
    "terraform|tofu plan|init|fmt|graph|show, pulumi preview, cdk list|ls|diff|synth, helm template|search, ansible --version",
    "network",
  ],
  ["medium", "write", "changes what words of the line mean", "alias|unalias|complete"],
  // ── Changes more than the project ──
  [
    "high",
    "write",
    "goes beyond the container",
    "docker|podman run|create --privileged|--device|--cap-add|--security-opt|--volumes-from",
  ],
  [
    "high",
    "write",
    "deletes or overwrites containers' data",
    "docker|podman|nerdctl rm|rmi|kill|cp|import|load|commit, docker|podman system|volume|container|image|network|builder prune|rm, docker compose rm|kill|down, docker-compose rm|kill|down",
  ],
  ["medium", "write", "changes containers", "docker|podman|nerdctl|docker-compose|podman-compose", "network"],
  [
    "high",
    "write",
    "changes a cluster",
    "kubectl|oc|helm|helmfile|k3s|kustomize|k9s|argocd|flux|istioctl|skaffold|minikube|kind",
    "network",
  ],
  [
    "high",
    "write",
    "changes infrastructure",
    "terraform|tofu|terragrunt|pulumi|cdk|ansible|ansible-playbook|packer|vagrant|nomad",
    "network",
  ],
  [
    "high",
    "write",
    PUBLISHES,
    "heroku|vercel|netlify|fly|flyctl|firebase|wrangler|surge|render|railway|supabase|amplify|eas|expo|cf",
    "network",
  ],
  [
    "medium",
    "write",
    "downloads",
    "gh|glab repo|pr|mr|release|run|gist clone|checkout|download|fork|sync, gh browse|co, gh pr|issue|repo view",
    "network",
  ],
  ["high", "write", "changes what a code host holds", "gh|glab|hub|tea", "network"],
  [
    "high",
    "write",
    "starts, stops or changes services",
    "systemctl|service|rc-service|rc-update|initctl|launchctl|supervisorctl|pm2|sv",
  ],
  [
    "high",
    "write",
    SYSTEM,
    "apt|apt-get|aptitude|dpkg|dnf|yum|rpm|pacman|yay|zypper|apk|snap|flatpak|port|emerge|brew|choco|winget|scoop|softwareupdate|nix-env|nix-channel|nix",
    "network",
  ],
  [
    "high",
    "write",
    SYSTEM,
    "mount|umount|losetup|swapon|swapoff|fusermount|insmod|modprobe|rmmod|depmod|dkms|grub-install|update-grub|update-initramfs|ldconfig|update-alternatives|sysctl|useradd|userdel|usermod|adduser|deluser|groupadd|groupdel|groupmod|passwd|chpasswd|visudo|vipw|chsh|chfn|newgrp|gpasswd|dscl|setcap|setenforce|semanage|auditctl|spctl|csrutil|tccutil|chattr|setfacl|xattr|timedatectl|hwclock|hostnamectl|localectl|loginctl|ntpdate|defaults|networksetup|scutil|systemsetup|pmset|tmutil|reg|regedit|schtasks|sc|netsh|wmic|setx|takeown|icacls|mknod|xdotool|ydotool|cliclick|enable|bind|fc",
  ],
  [
    "high",
    "write",
    "changes the network",
    "iptables|ip6tables|nft|ufw|firewall-cmd|pfctl|route|ipset|nmcli|wpa_supplicant|rfkill|tc|brctl",
  ],
  ["high", "write", "runs commands later", "crontab|at|batch|systemd-run"],
  [
    "high",
    "write",
    "reads or writes secrets, or uses keys",
    "security|secret-tool|keyring|pass|op|vault|bw|lpass|gopass|chamber|doppler|infisical|gpg|gpg2|age|sops|ssh-add|ssh-agent|ssh-copy-id|ssh-keygen|certbot|mkcert|openssl",
  ],
  ["high", "write", "sends a message", "mail|mailx|sendmail|mutt|msmtp|swaks|slack|ntfy", "network"],
  [
    "high",
    "write",
    "opens the machine to the network",
    "ngrok|cloudflared|localtunnel|lt|bore|tailscale|wg|wg-quick|openvpn|frpc|chisel",
    "network",
  ],
  [
    "high",
    "write",
    "attacks or listens",
    "nmap|masscan|hydra|sqlmap|msfconsole|john|hashcat|aircrack-ng|tcpdump|tshark|wireshark|ettercap|bettercap|responder",
    "network",
  ],
  [
    "high",
    "write",
    "sends data over the network",
    "ftp|lftp|tftp|telnet|websocat|grpcurl|http|https|xh|xhs|aria2c|axel|lynx|w3m|links",
    "network",
  ],
  [
    "high",
    "write",
    "changes or deletes databases",
    "dropdb|createdb|pg_restore|mysqladmin|pg_ctl|initdb|redis-server|mongod",
  ],
  ["high", "write", "deletes files", "del|erase|rd|deltree|cipher|vssadmin"],
  [
    "critical",
    "write",
    "changes disks or firmware",
    "mkfs|mkfs.*|fsck|fsck.*|newfs|fdisk|sfdisk|cfdisk|gdisk|sgdisk|parted|wipefs|blkdiscard|mdadm|lvremove|vgremove|pvremove|cryptsetup|hdparm|nvme|diskutil|format|flashrom|fwupdmgr|efibootmgr|nvram|bcdedit|diskpart|testdisk",
  ],
  ["critical", "write", "stops the machine", "shutdown|reboot|halt|poweroff|init|telinit"],
  ["critical", "write", "mines coins", "xmrig|cpuminer|minerd|ethminer", "network"],
];

/** Options before the first operands that take their value from the next argument. */
const VALUED: Readonly<Record<string, string>> = {
  git: "-C -c --git-dir --work-tree --namespace --exec-path --config-env",
  npm: "--prefix -C -w --workspace --loglevel --registry",
  pnpm: "-C --dir --filter -F",
  yarn: "--cwd",
  cargo: "-p --package --manifest-path --target --color -Z --config --features",
  docker: "-H --host --context --config -f --file -p",
  kubectl: "-n --namespace --context --kubeconfig",
  helm: "-n --namespace",
  gh: "-R --repo",
  make: "-C -f -j",
  date: "-d -f -r --date --file --reference",
  xxd: "-c -g -l -o -s",
  uniq: "-f -s -w",
  uv: "--directory --project",
};

type Token =
  | { readonly kind: "operand"; readonly fits: RegExp }
  | { readonly kind: "option"; readonly names: string; readonly given: boolean }
  | { readonly kind: "end" };

interface Known {
  readonly tokens: readonly Token[];
  readonly judgement: Judgement;
}

const escaped = (text: string) => text.replace(/[.+?^${}()[\]\\]/g, "\\$&").replaceAll("*", ".*");

function tokenOf(word: string): Token {
  if (word === "$") return { kind: "end" };
  const given = !word.startsWith("!");
  const text = given ? word : word.slice(1);
  if (text.startsWith("-")) return { kind: "option", names: text.replaceAll("|", " "), given };
  return { kind: "operand", fits: word === "." ? /./s : new RegExp(`^(?:${escaped(word)})$`, "s") };
}

/** By the name of the program; `mkfs.*` stands for what starts with it and a dot. */
const TABLE = new Map<string, Known[]>();
for (const [severity, level, reason, commands, network] of ROWS) {
  for (const command of commands.split(", ")) {
    const [programs = "", ...rest] = command.split(" ");
    const known = {
      tokens: rest.map(tokenOf),
      judgement: judged(severity, reason, level, network !== undefined),
    };
    for (const name of programs.split("|")) TABLE.set(name, [...TABLE.get(name) ?? [], known]);
  }
}

function rowsOf(name: string): readonly Known[] {
  return TABLE.get(name) ?? TABLE.get(name.replace(/[._].*$/, ".*")) ?? [];
}

function fits(tokens: readonly Token[], name: string, args: readonly string[]): boolean {
  const given = readArguments(args, VALUED[name]);
  let at = 0;
  return tokens.every((token) => {
    if (token.kind === "option") return has(given, token.names) === token.given;
    const operand = given.operands[at++];
    return token.kind === "end" ? operand === undefined : operand !== undefined && token.fits.test(operand);
  });
}

export function judgeByTable(name: string, args: readonly string[]): Judgement | undefined {
  return rowsOf(name).find(({ tokens }) => fits(tokens, name, args))?.judgement;
}

/** What it does depends on its first operand: a rule on its name alone is one on all that it does. */
export function hasSubcommands(name: string): boolean {
  return rowsOf(name).some(({ tokens }) => tokens[0]?.kind === "operand" && !tokens[0].fits.test("\n"));
}

/** Programs that a version or help option stops from doing anything else. */
export function asksVersion(name: string, args: readonly string[]): boolean {
  const [only = "", ...more] = args;
  return more.length === 0 && (only === "--version" || only === "--help" || VERSION.test(`${name} ${only}`));
}

const VERSION =
  /^((node|npm|npx|bun|php|ruby|perl|jq|make|lua|nvim|tsc) -v|(python[\d.]*|pip[\d.]*|deno|rustc|cargo|cmake|perl|ssh|rg|tmux) -V|(go|docker|podman|kubectl|helm|terraform|zig|openssl|hugo|buf) version|java(c)? -version)$/;
