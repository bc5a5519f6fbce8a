/**
 * The table of programs: severity, access, reason, and commands. The words match the program and its first
 * operands: `a|b` either one, `x*` a prefix, `.` any operand, `$` no further operand. An option must be
 * present, or absent after `!`. `~x` must occur in the arguments or the input, `~~x` in any case. The first
 * matching row counts. The table serves questions and rules; the sandbox enforces.
 */
import { type Arguments, has, readArguments, valuesOf } from "../../shared/getopt.ts";
import type { Input } from "./scene.ts";
import { type Judgement, judgementOf, rows } from "./severity.ts";

const DESTROYS =
  "~~\\b(drop|truncate|delete|alter|grant|revoke|shutdown|into\\s+outfile|load_file|flush(all|db)|deleteMany|dropDatabase|remove\\()";

/** Prefixes of a folder of this machine that is mounted in a container. */
const MOUNT = "(^|\\s)(-[a-z]*v[=\\s]?|--volume[=\\s]|--mount[=\\s]\\S*(source|src)=)";

const ROWS = String.raw`
high git+network has git start a program · git ~^(?!rebase\s)[^]*\s(--(upload-pack|receive-pack|exec|extcmd)(=|\s|$)|ext::)
high git runs a git command known only at run time · git *￼*
medium look starts a program · git diff|log|show|blame|annotate|grep|whatchanged --ext-diff|--textconv|-O|--open-files-in-pager, git help -w|-i|--web
none look only reads · git $, git status|log|diff|show|blame|annotate|rev-parse|rev-list|ls-files|ls-tree|cat-file|describe|shortlog|name-rev|merge-base|for-each-ref|show-ref|show-branch|var|version|
  help|whatchanged|count-objects|diff-tree|diff-index|diff-files|cherry|range-diff|check-ignore|check-attr|check-mailmap|check-ref-format|verify-commit|verify-tag|verify-pack|grep|get-tar-commit-id|
  patch-id|stripspace|column|merge-tree|fmt-merge-msg, git fsck !--lost-found, git hash-object !-w, git interpret-trailers !--in-place, git archive !-o|--output|--remote, git branch -l|--list|
  --show-current|--contains|--no-contains|--merged|--no-merged|--points-at !-d|-D|-m|-M|-c|-C|-f, git branch $ !-d|-D|-m|-M|-c|-C|-f|-u|--edit-description|--unset-upstream, git tag $ !-d|-f|-a|-s|-m,
  git tag -l|--list|-n|--contains|--merged|--points-at|-v|--verify !-d|-f|-a|-s|-m, git remote $ !-u, git remote get-url, git remote show $, git stash list|show, git worktree|sparse-checkout list,
  git submodule $, git submodule status|summary, git notes $, git notes list|show, git bisect log|terms, git lfs ls-files|status|env|version, git symbolic-ref . $ !-d|--delete|-m, git config -l|
  --list|--get|--get-all|--get-regexp|--get-urlmatch, git config list|get, git config . $ !--unset|--unset-all|--remove-section|--rename-section|--add|--replace-all|-e|--edit, git clean -n|--dry-run
  !-f|--force|--no-dry-run|-i, git apply --stat|--numstat|--summary|--check !--apply|--build-fake-ancestor|--index|--cached|-3
high git deletes the record of old commits · git reflog expire|delete|drop
none look only reads · git reflog, unzip -l|-v|-t|-Z|-p|-c !-d, tar|gtar|bsdtar -t|--list !-x|-c|-r|-u, kill|pkill|killall ~^(-0|-l|-L|--list)(\s\S+)?$
none look+network queries another repository · git ls-remote, git remote show
high git+network overwrites or deletes published commits · git push -f|--force|--force-with-lease|--mirror|--prune|-d|--delete, git push ~\s(\+|:\S)
high git+network publishes commits · git push|send-email, git lfs push
high git+network serves the repository · git daemon|http-backend|instaweb|p4|svn
high git rewrites history · git filter-branch|filter-repo|replace|update-ref
high git discards changes · git reset --hard|--merge|--keep, git clean|restore, git checkout -f|--force|--ours|--theirs|-p|--patch, git switch -f|--force|--discard-changes, git checkout . . !-b|-B|-t|
  --track|--orphan, git checkout|switch ~\s--(\s|$), git checkout|switch ~\s(\S*\*|(\.{1,2}|\S*(/|\.[a-zA-Z]\w{0,4}))(\s|$)) !-b|-B|-t|-c|-C, git stash drop|clear, git worktree remove, git worktree|
  submodule -f|--force, git rm -r|-f|--force
high git moves or deletes branches or tags · git checkout|switch -B|-C|--force-create|--orphan, git branch -D|-M|-C|-f|--force, git tag -d|--delete|-f|--force
high git deletes unreachable commits · git prune, git gc|repack --prune|--aggressive|-A|-D
high git bypasses the hooks · git commit -n|--no-verify, git merge|am|cherry-pick --no-verify
high git runs commands on each commit · git rebase -x|--exec|-i|--interactive, git submodule foreach, git bisect run|visualize|view, git difftool|mergetool
high git changes where commits are sent · git remote set-url|add|remove|rm|rename
high git changes git's settings · git config --global|--system|--unset|--unset-all|--remove-section|--rename-section|-e|--edit
medium git changes the repository's settings · git config
high look reads or writes passwords · git credential|credential-store|credential-cache
medium write+network downloads a repository · git clone
medium git+network downloads commits · git fetch|pull, git remote update|prune, git submodule update|add, git lfs
medium write writes a file · git archive|bundle|format-patch, git apply !--index|--cached|-3, uniq . ., xxd . ., yq -i|--inplace|--in-place, file -C, lsof -D, info -o, bat cache, mktemp, hash -p
medium git stages files · git add|rm|mv
medium git commits · git commit
medium git changes the repository · git
medium look starts a program · rg --pre|--hostname-bin, sort --compress-program, bat|batcat|delta|ag|ack --pager, nm|objdump --plugin, compgen -C|-F|-W, mapfile|readarray -C, man -P|-H|--pager|--html
high write sets the machine's clock or name · date -s|--set, hostname ., hostname -b|-F, ifconfig . .
high write changes or deletes logs · journalctl --rotate|--vacuum-size|--vacuum-time|--vacuum-files|--flush, dmesg -c|-C|--clear
high write ends connections · ss -K|--kill
medium write changes a configuration · ip . a|add|d|del|set|change|replace|flush, ip -batch, history -c|-w
high write may write outside of the project · tar|gtar|bsdtar -P|--absolute-names
critical write removes the protection of / · rm|chmod|chown|chgrp --no-preserve-root
high write deletes a folder · rm $ -r|-R|--recursive
critical write moves files into a device · mv ~\s/dev/\S*$
medium write moves a file away · mv
high write deletes all that it finds · find|gfind ~(^|\s)-delete(\s|$)
high write destroys files beyond recovery · shred
medium write changes files · rm|rmdir|unlink|trash|srm|wipe|dd|dcfldd
critical write kills all processes · kill ~(^|(?<!(^|\s)-(s|n|-signal))\s)[01](\s|$)|\s-1(\s|$)
high write kills a process · kill|pkill|killall|skill ~~(^|\s)(-9|-?(sig)?kill|-(s|n|-signal)[\s=]?(9|(sig)?kill))(\s|$)
medium write ends a process · kill
high write kills all processes of a name · pkill|killall|xkill|skill|taskkill
high write makes files writable for everyone · chmod ~(^|\s)0?\d?\d[2367](\s|$)|(^|[\s,])((?=[ugo]*[oa])[ugoa]+)?[+=]\w*w
high write makes a program run with its owner's rights · chmod ~(^|\s)(0?[2467]\d{3}(\s|$)|[ugoa]*[+=][rwxXt]*s)
medium write changes files · chmod
high write changes who owns files · chown|chgrp
critical write+network exposes a program to the network · nc|ncat|netcat -e|-c|--exec|--sh-exec|--lua-exec, socat ~~\b(exec|system|shell|pty):
high look+network sends data over the network · nc|ncat|netcat|socat
high look+network uses settings or passwords from elsewhere · curl -K|--config|-n|--netrc|--netrc-file|-u|--user|--key, wget -e|--execute|--config|-i|--input-file|--use-askpass
high look+network sends data over the network · curl|wget ~￼, curl -d|-F|-T|-Q|--data|--data-raw|--data-binary|--data-ascii|--data-urlencode|--json|--form|--upload-file|--quote, wget --post-data|
  --post-file|--body-data|--body-file, curl|wget ~(^|\s)(-[a-zA-Z]*X\s?|--(request|method)[\s=])(?!(GET|HEAD|OPTIONS|get|head|options)(\s|$))
medium look+network reads from the network · curl|wget
high look+network sends data known only at run time · ping|ping6|dig|nslookup|host|whois|traceroute|mtr|tracepath ~￼
medium look+network uses the network · ping|ping6|dig|nslookup|host|whois|traceroute|mtr|tracepath
high write changes or deletes what a database holds · sqlite|sqlite3|duckdb ${DESTROYS}
high write+network changes or deletes what a database holds · psql|mysql|mariadb|mongo|mongosh|redis-cli|cqlsh|clickhouse-client|sqlcmd ${DESTROYS}
medium write talks to a database · sqlite|sqlite3|duckdb
medium write+network talks to a database · psql|mysql|mariadb|mongo|mongosh|redis-cli|cqlsh|clickhouse-client|sqlcmd
high write+network copies to or from another machine · rsync ~(^|\s)[^\s/-][^\s/]*:
none look only reads · ls|dir|vdir|cat|tac|head|tail|wc|nl|cut|tr|paste|fold|fmt|pr|col|column|expand|unexpand|comm|join|look|rev|od|hexdump|hexyl|xxd|strings|nm|objdump|size|readelf|otool|cksum|sum|
  md5sum|sha1sum|sha224sum|sha256sum|sha384sum|sha512sum|b2sum|shasum|md5|grep|egrep|fgrep|zgrep|zcat|bzcat|xzcat|zstdcat|rg|ag|ack|sort|uniq|shuf|iconv|tree|base64|base32|info|lsof|cloc|scc|tokei|
  sdiff|diff3|file|bat|batcat|delta|yq|jq|xmllint|date|cal|hostname|ifconfig|compgen|mapfile|readarray|history|journalctl|dmesg|ss|uuidgen, echo|printf|pwd|which|whereis|type|true|false|test|[|:|
  whoami|id|groups|logname|arch|nproc|uptime|free|lscpu|lsblk|lsusb|lspci|tty|getconf|seq|sleep|basename|dirname|realpath|readlink|stat|du|df|diff|cmp|colordiff|tsort|factor|expr|numfmt|tput|clear|
  locate|apropos|whatis|users|who|w|ps|pstree|pgrep|pidof|vmstat|iostat|printenv|locale|uname|netstat|top|shellcheck|exa|eza|lsb_release|sw_vers|ip|man|less|more|most|getent|zipinfo, bc, crontab|gzip|
  unzip|dpkg -l, gzip|gunzip|bzip2|bunzip2|xz|unxz|zstd|unzstd -c|--stdout|-t|--test, tar|gtar|bsdtar -O|--to-stdout !-c|-r|-u, dpkg -L, rpm -q|-qa|-qi|-ql, ar t*, cd|pushd|popd|dirs|return|exit|
  break|continue|shift|set|shopt|local|declare|typeset|readonly|export|read|unset|getopts|let|times|caller|suspend|disown|wait|jobs|umask|ulimit|fg|bg|logout|hash
medium look runs tests or checks · node -c|--check, npm|pnpm|yarn|bun test|t|tst !-g, npm|pnpm|yarn|bun run|run-script test*|lint|lint:check|typecheck|type-check|tsc|check|check-types !--fix, yarn|
  pnpm|bun lint|typecheck|check !--fix, deno test|check|lint|bench !--fix, deno fmt --check, deno task test|check|lint, cargo test|check|clippy|bench|nextest !--fix, cargo fmt --check, cargo tree|
  metadata, go test|vet !-c|-o|-exec|-toolexec, pytest|py.test|unittest|tox|nox|jest|vitest|mocha|ava|phpunit|rspec|ctest|busted|playwright|doctest|behave, mix|dotnet|swift|flutter|dart|zig|sbt|lein|
  stack|cabal|bazel|mvn|mvnw|gradle|gradlew|rake|composer|just|task test|check|analyze !-i, rustfmt --check, rspec, tsc --noEmit, tsc --noemit, vue-tsc --noEmit, eslint|stylelint|oxlint|biome|
  standard|xo !--fix|--write|--apply|-o|--output-file, mypy|pyright|basedpyright|flake8|pylint|pyflakes|bandit|vulture|pycodestyle|pydocstyle|luacheck|selene|yamllint|hadolint|actionlint|
  golangci-lint|staticcheck|markdownlint|codespell|typos|rubocop !--fix|-w|--write|-a|-A|--autocorrect|-i, ruff check !--fix|--fix-only, ruff format --check, black|isort|djlint --check, prettier -c|
  --check|-l|--list-different !--write|-w, gofmt|goimports -l|-d !-w, shfmt -d|-l !-w, stylua --check, clang-format -n|--dry-run !-i, make|gmake|ninja -n|--dry-run|--just-print
none look only queries · npm ls|list|ll|la|why|explain|root|prefix|bin|query|help|fund, npm config get|list|ls, npm pkg get, npm run $, pnpm|yarn list|ls|why, go version|env|list|doc|help !-w|-u|
  -toolexec|-mod|-m, go list -m !-u|-toolexec, go mod graph|why|verify, cargo help|version|locate-project|read-manifest|pkgid|verify-project, rustup which|show|check, rustup toolchain|target|
  component list, pip|pip3 list|show|freeze|check|help|debug|inspect !--log|-o|--outdated, pip|pip3 list, uv pip list|show|freeze|check|tree, uv python list, uv tree|version, poetry show|check|env,
  deno info|types|doc|help|why, gem list|env|info|contents|which, bundle list|show|info, composer show|validate, dotnet sln list, flutter doctor|devices, brew list|leaves|deps|info, apt list|show|
  policy, apt-cache|dpkg-query, dnf|yum list|info, docker|podman|nerdctl ps|images|logs|inspect|version|info|port|top|diff|history|stats|events, docker|podman image|container|volume|network ls|
  inspect|logs|history, docker compose ps|logs|images|ls|top|version, docker-compose ps|logs|images|version, docker context ls, docker system df|info
medium write+network installs packages · npm|pnpm audit fix
none look+network only queries · npm|cnpm view|v|info|show|outdated|ping|whoami|search|audit !--fix, cargo search|info, pip index|search, npm audit $, pnpm outdated|audit
high look+network publishes, or changes an account · kubectl|oc get|describe secret*, kubectl config view --raw, kubectl create token, gh auth status --show-token|-t, gh auth token
none look only queries · kubectl|oc get|describe|logs|version|explain|api-resources|api-versions|cluster-info|top|diff|events, kubectl config current-context|get-contexts|view, helm list|ls|status|
  history|show|lint|env|version, gh status|version|search, gh repo|pr|issue|run|workflow|release|gist|label|cache|org|ruleset view|list|status|diff|checks|watch !-w|--web, gh auth status, glab mr|
  issue|ci view|list|status|diff, terraform|tofu version|output|validate|providers, terraform|tofu workspace list|show, systemctl|service status|list-units|list-unit-files|list-timers|show|cat|
  is-active|is-enabled|is-failed, launchctl list|print, openssl version|dgst|rand !-out|-engine
high write+network publishes, or changes an account · npm|pnpm|yarn|bun|cnpm publish|unpublish|deprecate|dist-tag|owner|access|team|org|token|adduser|login|logout|profile|hook|deploy|release, npm|
  pnpm|yarn|bun run|run-script deploy*|publish*|release*, npm|yarn|pnpm config|c set|delete|edit, npm set, cargo publish|yank|owner|login|logout, gem push|yank|owner|signin|signout, twine upload,
  poetry|uv|hatch|flit|pdm publish|upload|config|auth, pip config, deno publish|deploy|upgrade|login, mix hex.*|ecto.drop|ecto.reset, dotnet nuget push|delete, stack|cabal upload, composer config|
  global, docker|podman push|login|logout|trust|swarm|stack|service|node|secret|config|plugin, docker|podman image|manifest|compose push, heroku|vercel|netlify|fly|flyctl|firebase|wrangler|surge|
  render|railway|supabase|amplify|eas|expo|cf
high write+network installs for the whole machine · npm|pnpm|yarn|bun install|i|add -g|--global|--location, pip|pip3 install --user|--break-system-packages|--target, uv tool install, pipx install,
  cargo|go install
high write changes settings that programs obey · go env -w|-u, conda config
high write acts outside of the project · make|gmake|ninja|just|task|rake|mvn|gradle|gradlew|mvnw|scons|meson install|uninstall|publish*|deploy*|release*|upload|push
medium write+network installs packages · npm|pnpm|yarn|bun|cnpm install|i|in|ci|add|update|up|upgrade|create|init|dlx|exec|x|install-test, npm audit|doctor, yarn $, cargo install|add|update|fetch|
  vendor|generate-lockfile, rustup, go get|install, go mod download|tidy|vendor, go work sync, go list, pip|pip2|pip3 install|download|wheel|uninstall|list, pipx|conda|mamba|micromamba|easy_install,
  uv sync|lock|add|remove|pip|tool|venv|python|init, poetry|pipenv|pdm|hatch|rye|pixi install|add|update|lock|sync|remove, gem|bundle|bundler|composer, deno install|add|cache|update|outdated, dotnet
  restore|add|tool, mix deps.get|deps.update|local.hex, flutter|dart pub, luarocks install, cabal update, brew search, docker|podman pull|build|search, docker|podman compose up|pull|build, docker
  image pull|build, docker-compose up|pull|build, pre-commit install|autoupdate|run
medium write runs a script of this project · npm|pnpm|yarn|bun|cnpm|cargo|go|deno|poetry|pipenv|pdm|hatch|rye|pixi|uv|dotnet|mix|stack|cabal|flutter|dart|swift|make|gmake|nmake|ninja|just|mage|
  task|rake|invoke|ant|mvn|mvnw|gradle|gradlew|sbt|lein|bazel|buck|pants|scons|meson|cmake|waf|doit|earthly|turbo|nx|lerna|tsc|vite|webpack|rollup|esbuild|swc|parcel|next|nuxt|astro|rustc|gcc|g++|
  clang|clang++|cc|c++|javac|kotlinc|zig|ld|as|nix-build
medium write checks or rewrites files · prettier|eslint|biome|oxlint|dprint|black|ruff|isort|autopep8|gofmt|goimports|rustfmt|clang-format|stylua|shfmt|rubocop|pre-commit
medium write packs or unpacks files · tar|gtar|bsdtar|unzip|gzip|gunzip|bzip2|bunzip2|xz|unxz|lzma|zstd|unzstd|lz4|compress|uncompress|brotli|pigz|7z|7za|7zr|unrar|unar|ar|cpio|jar|dpkg-deb|zip
medium write writes files · split|csplit|mkfifo|patch|ffmpeg|convert|magick|gs|pandoc|soffice|wkhtmltopdf|inkscape|dot|pg_dump|mysqldump
medium write starts an editor · vi|vim|nvim|view|ex|ed|emacs|nano|pico|micro|hx|helix|kak|joe|code|cursor|subl|idea|kate|zed
medium write+network opens something on the desktop · xdg-open|open|start|gio|firefox|chromium|google-chrome|pbcopy|xclip|xsel|wl-copy|clip|pbpaste|wl-paste
medium write starts a session that keeps running · tmux|screen|zellij|dtach|abduco|byobu
medium write+network reads the state of infrastructure · terraform|tofu plan|init|fmt|graph|show, pulumi preview, cdk list|ls|diff|synth, helm template|search, ansible --version
medium write redefines commands · alias|unalias|complete
critical write+network gives a container the whole machine · docker|podman|nerdctl run|create
  ~${MOUNT}(/+[.*]*|[^\s:,]*docker\.sock|/(etc|root|home|usr|var|boot|dev|proc|sys|Users|run)/?|~/?)([:,\s]|$)
high write+network gives a container a folder outside the project · docker|podman|nerdctl run|create ~${MOUNT}([/~]|\.\.)
high write+network reaches beyond the container · docker|podman|nerdctl run|create ~--(privileged|device|cap-add|security-opt|volumes-from|(net|network|pid|ipc|userns|uts)[=\s]host)
high write deletes or overwrites containers' data · docker|podman|nerdctl rm|rmi|kill|cp|import|load|commit, docker|podman system|volume|container|image|network|builder prune|rm, docker compose rm|
  kill|down, docker-compose rm|kill|down
medium write+network changes containers · docker|podman|nerdctl|docker-compose|podman-compose
high write+network changes a cluster · kubectl|oc|helm|helmfile|k3s|kustomize|k9s|argocd|flux|istioctl|skaffold|minikube|kind
high write+network changes infrastructure · terraform|tofu|terragrunt|pulumi|cdk|ansible|ansible-playbook|packer|vagrant|nomad
medium write+network downloads · gh|glab repo|pr|mr|release|run|gist clone|checkout|download|fork|sync, gh browse|co, gh pr|issue|repo view
high write+network changes what a code host holds · gh|glab|hub|tea
high write starts, stops or changes services · systemctl|service|rc-service|rc-update|initctl|launchctl|supervisorctl|pm2|sv
high write+network changes the system · apt|apt-get|aptitude|dpkg|dnf|yum|rpm|pacman|yay|zypper|apk|snap|flatpak|port|emerge|brew|choco|winget|scoop|softwareupdate|nix-env|nix-channel|nix
high write changes the system · mount|umount|losetup|swapon|swapoff|fusermount|insmod|modprobe|rmmod|depmod|dkms|grub-install|update-grub|update-initramfs|ldconfig|update-alternatives|sysctl|useradd|
  userdel|usermod|adduser|deluser|groupadd|groupdel|groupmod|passwd|chpasswd|visudo|vipw|chsh|chfn|newgrp|gpasswd|dscl|setcap|setenforce|semanage|auditctl|spctl|csrutil|tccutil|chattr|setfacl|xattr|
  timedatectl|hwclock|hostnamectl|localectl|loginctl|ntpdate|defaults|networksetup|scutil|systemsetup|pmset|tmutil|reg|regedit|schtasks|sc|netsh|wmic|setx|takeown|icacls|mknod|xdotool|ydotool|
  cliclick|enable|bind|fc
high write changes the network · iptables|ip6tables|nft|ufw|firewall-cmd|pfctl|route|ipset|nmcli|wpa_supplicant|rfkill|tc|brctl
high write runs commands later · crontab|at|batch|systemd-run
high write reads or writes secrets, or uses keys · security|secret-tool|keyring|pass|op|vault|bw|lpass|gopass|chamber|doppler|infisical|gpg|gpg2|age|sops|ssh-add|ssh-agent|ssh-copy-id|ssh-keygen|
  certbot|mkcert|openssl
high write+network acts on another machine · ssh|scp|sftp|mosh|autossh|rsh|sshpass
high write+network reads a cloud's secrets · aws|gcloud|az secret*|kms|iam|sso|ssm
medium look+network queries a cloud service · aws|gcloud|az|doctl|gsutil|bq . ls|list*|describe*|get*|show*, aws|gcloud|az|doctl version|help
high write+network changes what a cloud holds · aws|gcloud|az|doctl|linode-cli|oci|ibmcloud|scw|hcloud|gsutil|bq|s3cmd|rclone|mc|azcopy|sam|serverless|sls
high write+network sends a message · mail|mailx|sendmail|mutt|msmtp|swaks|slack|ntfy
high write+network exposes this machine to the network · ngrok|cloudflared|localtunnel|lt|bore|tailscale|wg|wg-quick|openvpn|frpc|chisel
high write+network attacks or listens · nmap|masscan|hydra|sqlmap|msfconsole|john|hashcat|aircrack-ng|tcpdump|tshark|wireshark|ettercap|bettercap|responder
high write+network sends data over the network · ftp|lftp|tftp|telnet|websocat|grpcurl|http|https|xh|xhs|aria2c|axel|lynx|w3m|links
high write changes or deletes databases · dropdb|createdb|pg_restore|mysqladmin|pg_ctl|initdb|redis-server|mongod
critical write changes disks or firmware · mkfs|mkfs.*|fsck|fsck.*|newfs|fdisk|sfdisk|cfdisk|gdisk|sgdisk|parted|wipefs|blkdiscard|mdadm|lvremove|vgremove|pvremove|cryptsetup|hdparm|nvme|diskutil|
  format|flashrom|fwupdmgr|efibootmgr|nvram|bcdedit|diskpart|testdisk
critical write stops the machine · shutdown|reboot|halt|poweroff|init|telinit
critical write+network mines coins · xmrig|cpuminer|minerd|ethminer
`;

/**
 * Columns: programs · options that take their value from the next argument (for git and the like, those
 * before a subcommand) · those of them that name an output file; `.` if the operands do, `x=` if it follows
 * that.
 */
const OPTIONS = new Map(
  rows(`
git · -C -c --git-dir --work-tree --namespace --exec-path --config-env --attr-source --output · --output
npm · --prefix -C -w --workspace --loglevel --registry
pnpm · -C --dir --filter -F
yarn · --cwd
cargo · -p --package --manifest-path --target --color -Z --config --features
docker podman nerdctl · -H --host --context --config -f --file -p
kubectl · -n --namespace --context --kubeconfig
helm · -n --namespace
gh · -R --repo
make · -C -f -j
date · -d -f -r --date --file --reference
xxd · -c -g -l -o -s
uniq · -f -s -w
uv · --directory --project
nc ncat netcat · -p -w -s
sort · -o --output -k --key -t -S -T · -o --output
shuf · -o --output -i -n · -o --output
tree · -o --output -L -I -P · -o --output
iconv xmllint base64 base32 · -o --output · -o --output
tee touch mkdir truncate sponge fallocate · -m -t -d -r -s --mode --date --reference --size · .
curl · -d -F -T -o -K -H -X -u -A -e -b -c -x -w -m -r -C -E -Q -D -t --data --data-raw --data-binary --data-ascii --data-urlencode --json --form --upload-file --output --output-dir --config --header
  --request --user --user-agent --cookie --cookie-jar --proxy --write-out --max-time --connect-timeout --retry --cert --key --dump-header --url --trace --stderr
  · -o -D -c --output --dump-header --cookie-jar --trace --stderr
wget · -O -o -a -P -i -t -T -w -U -e -A -R --output-document --output-file --append-output --directory-prefix --input-file --post-data --post-file --body-data --body-file --method --header --user
  --password --execute --use-askpass --tries --timeout --config --user-agent · -O -o -a --output-document --output-file --append-output
cp mv install ln link gcp gmv · -t -S -m -o -g --target-directory --suffix --mode --owner --group
rsync · -e -f -T -M -B --rsh --exclude --include --files-from --filter
find gfind · -fprint -fprint0 -fprintf -fls · -fprint -fprint0 -fprintf -fls
chmod chown chgrp · --reference --from
rm rmdir unlink shred trash srm wipe · -n -s --iterations --size --random-source
dd dcfldd · · of=
unzip · -d -x -P
tar gtar bsdtar · -f -C -T -X -I -F -b -H -K --file --directory --use-compress-program --to-command --exclude
`).flatMap(([names = "", valued = "", written = ""]) =>
      names.split(" ").map((name) => [name, { valued, written }] as const)
    ),
);

/** Parses its arguments, as far as its options are known. */
export function argumentsOf(name: string, args: readonly string[], until?: "operand"): Arguments {
  return readArguments(args, OPTIONS.get(name)?.valued, until);
}

/** The files that its options or operands name as output. */
export function filesWritten(name: string, args: readonly string[]): readonly string[] {
  const written = OPTIONS.get(name)?.written ?? "";
  const invocation = argumentsOf(name, args);
  const files = /^$|^-/.test(written)
    ? valuesOf(invocation, written)
    : invocation.operands.filter((one) => written === "." || one.startsWith(written));
  return files.map((file) => file.slice(written.endsWith("=") ? written.length : 0)).filter((file) =>
    file !== "-"
  );
}

interface Known {
  readonly judgement: Judgement;
  readonly fits: (invocation: Arguments, all: string) => boolean;
  /** Its first word is a subcommand. */
  readonly sub: boolean;
}

/** Returns a function that tests whether the words of a row match. It compiles them when it is first called. */
function tested(words: readonly string[]): Known["fits"] {
  let tests: readonly Known["fits"][] | undefined;
  return (invocation, all) => (tests ??= testsOf(words)).every((test) => test(invocation, all));
}

function testsOf(words: readonly string[]): readonly Known["fits"][] {
  let operands = 0;
  return words.map((word): Known["fits"] => {
    const wanted = word.replace(/^!|^~+/, "");
    if (word.startsWith("~")) {
      const text = new RegExp(wanted, word.startsWith("~~") ? "i" : "");
      return (_, all) => text.test(all);
    }
    if (wanted.startsWith("-")) {
      return (invocation) => has(invocation, wanted.replaceAll("|", " ")) !== word.startsWith("!");
    }
    const at = operands++;
    if (word === "$") return (invocation) => invocation.operands[at] === undefined;
    const names = RegExp.escape(word).replace(/\\([*|])/g, (_, char) => char === "*" ? ".*" : "|");
    const fits = new RegExp(word === "." ? "" : `^(?:${names})$`, "s");
    return (invocation) => fits.test(invocation.operands[at] ?? "") && invocation.operands[at] !== undefined;
  });
}

/** By the name of the program; `mkfs.*` matches names that begin with it and a dot. */
function readTable(): ReadonlyMap<string, readonly Known[]> {
  const table = new Map<string, Known[]>();
  for (const [cell = "", commands = ""] of rows(ROWS)) {
    const judgement = judgementOf(cell);
    for (const command of commands.split(", ")) {
      const [programs = "", ...rest] = command.split(" ");
      const known = { judgement, fits: tested(rest), sub: /^[^-!~$.]/.test(rest[0] ?? "") };
      for (const name of programs.split("|")) table.set(name, [...table.get(name) ?? [], known]);
    }
  }
  return table;
}

/** Read with the first command: many sessions run none. */
let table: ReadonlyMap<string, readonly Known[]> | undefined;

function rowsOf(name: string): readonly Known[] {
  table ??= readTable();
  return table.get(name) ?? table.get(name.replace(/[._].*$/, ".*")) ?? [];
}

export function judgeByTable(name: string, args: readonly string[], input?: Input): Judgement | undefined {
  // Arguments after "--" go to a script, but still describe its effect: `npm run lint -- --fix`.
  const invocation = argumentsOf(name, args.filter((arg) => arg !== "--"));
  const all = [...args, ...(input?.kind === "text" ? [input.text] : [])].join(" ");
  return rowsOf(name).find(({ fits }) => fits(invocation, all))?.judgement;
}

/** Its effect depends on its first operand, so a rule on its name alone would cover all effects. */
export function hasSubcommands(name: string): boolean {
  return rowsOf(name).some(({ sub }) => sub);
}

/** Programs that do nothing else with a version or help option. */
export function asksVersion(name: string, args: readonly string[]): boolean {
  const [only = "", ...more] = args;
  return more.length === 0 && (only === "--version" || only === "--help" || VERSION.test(`${name} ${only}`));
}

const VERSION =
  /^((node|npm|npx|bun|php|ruby|perl|jq|make|lua|nvim|tsc) -v|(python[\d.]*|pip[\d.]*|deno|rustc|cargo|cmake|perl|ssh|rg|tmux) -V|(go|docker|podman|kubectl|helm|terraform|zig|openssl|hugo|buf) version|java(c)? -version)$/;
