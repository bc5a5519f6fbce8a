/**
 * Words that the `*` of an allow rule never matches: options with which a program starts another, reads other
 * settings, acts elsewhere or writes an unexpected file. By program, from their manuals. Pure.
 */
import { rows } from "./severity.ts";

/**
 * Long options match in every short form; single letters match among others; words match literally, "@" marks
 * prefixes that name a file of arguments or data. `git:clone` is for one subcommand.
 */
const OPTIONS = new Map(
  rows(
    `git · -c -C -O --output --output-directory --ext-diff --textconv --no-index --exec-path --git-dir --work-tree --namespace --config-env --config --bare --upload-pack --receive-pack --exec
  --open-files-in-pager --pathspec-from-file --template --extcmd --tool --separate-git-dir --reference --filters --paginate --edit-description --no-verify --contents --ignore-revs-file
  --pathspec-file-nul
git:submodule · foreach
git:bisect · run view visualize
git:rebase · -x -i --interactive -s --strategy
git:difftool · -x
git:clone · -u
git:commit · -n
git:archive git:format-patch · -o --remote
git:merge git:pull git:cherry-pick · -s --strategy
git:filter-branch · --env-filter --tree-filter --tree --index-filter --parent-filter --msg-filter --commit-filter --tag-name-filter --setup -d
git:help · -w -m -i --web --man --info
git:send-email · --sendmail-cmd --smtp-server --to-cmd --cc-cmd --header-cmd
git:apply · --unsafe-paths --directory
rg · --pre --hostname-bin --config --ignore-file --search-zip -z -f --file
grep egrep fgrep · -f --file --exclude-from
sort · -o --output --compress-program --files0-from -T --temporary-directory --random-source
find gfind · -exec -execdir -ok -okdir -delete -fprint -fprint0 -fprintf -fls -files0-from
fd fdfind · -x -X --exec --exec-batch --ignore-file --base-directory
tar gtar bsdtar · -I -F -C -P -f -T -X --to-command --use-compress-program --info-script --new-volume-script --rmt-command --rsh-command --checkpoint-action --directory --file --files-from
  --exclude-from --absolute-names --index-file --one-top-level --transform -g -s -U --listed-incremental --volno-file --xform --remove-files --recursive-unlink --unlink-first --delete
  --keep-directory-symlink
go · -exec -toolexec -vettool -o -C -modfile -overlay -mod -c -cpuprofile -memprofile -blockprofile -mutexprofile -coverprofile -trace -outputdir -ldflags -gcflags -asmflags -gccgoflags -compiler
  -pkgdir -w -u -pgo -gocoverdir -fuzzcachedir -test.cpuprofile -test.memprofile -test.blockprofile -test.mutexprofile -test.coverprofile -test.trace -test.outputdir -test.gocoverdir
  -test.testlogfile -test.fuzzcachedir
npm pnpm yarn bun npx · --prefix -C --script-shell --userconfig --globalconfig --registry --node-options --git --shell --viewer --editor --cwd --dir --cache --init-module -g --global --location
  --node --rcfile --config --preload -r --require -c -e -p --call --package --eval --print --cafile --proxy --https-proxy --pack-destination --node-gyp --lockfile-dir --store-dir --modules-dir
  --pnpmfile --global-pnpmfile --use-node-version --npmrc-auth-file
cargo · --config --manifest-path --target-dir --out-dir --artifact-dir -C -Z --fix --allow-dirty --allow-no-vcs --lockfile-path --root --registry --index --git --path --target --install-path --env-set
pytest py.test · -p -c -o --rootdir --config-file --override-ini --confcutdir --basetemp --pdbcls --junitxml --junit-xml --log-file --debug --import-mode --cov-config --cov-report --pastebin
  --pythonwarnings --pyargs --result-log -W @ --tx --rsyncdir --px --html --json-report-file --ds --dc
make gmake · -f -C -I --file --makefile --directory --include-dir --eval -E -e --environment-overrides -o -W --old-file --assume-old -t --touch --what-if --new-file --assume-new
node tsx ts-node · -r -e -p -c --require --import --eval --print --loader --experimental-loader --inspect --inspect-brk --env-file --env-file-if-exists --openssl-config --diagnostic-dir
  --redirect-warnings --report-directory --build-snapshot --experimental-config-file --title --icu-data-dir --cpu-prof --heap-prof --run -C -i --interactive --test-reporter
  --test-reporter-destination --test-global-setup --localstorage-file --experimental-sea-config --build-sea --trace-event-file-pattern --tls-keylog --snapshot-blob --cpu-prof-dir --heap-prof-dir
  --report-filename --inspect-wait --inspect-port --allow-child-process --allow-addons --allow-worker --allow-wasi --allow-fs-write --logfile --prof --entry-url --experimental-default-config-file
  --watch-path
deno · -A --allow-all --allow-run --allow-write --allow-ffi --config -c --import-map --import --preload --cert --location --lock --output -o --env-file --unsafely-ignore-certificate-errors --reload
  --v8-flags -R -W -N -E -S -I -P -r -g --allow-read --allow-net --allow-env --allow-sys --allow-import --allow-scripts --permission-set --fix --inspect --inspect-brk --inspect-wait --junit-path
  --coverage --vendor --node-modules-dir --root --global
python python3 pypy pypy3 · -c -m -i -W -X --check-hash-based-pycs
tsc vue-tsc · @ -p -project -b -build -out -outdir -outfile -declarationdir -tsbuildinfofile -generatetrace -generatecpuprofile -init -w -watch -i -incremental -composite -rootdir -typeroots
eslint · -c --config -o --output-file --fix --rulesdir --plugin --parser --resolve-plugins-relative-to -f --format --cache-location --cache-file --init --fix-type --inspect-config --suppress-all
  --suppress-rule --suppressions-location --prune-suppressions --mcp --ignore-path --parser-options
prettier · --config --plugin -w --write --cache-location --plugin-search-dir --find-config-path
ruff black mypy · --config --config-file --fix --fix-only -o --output-file --python-executable --cache-dir --install-types --junit-xml --any-exprs-report --html-report --xml-report --txt-report
  --unsafe-fixes @
man · -P -H -C -T -X -Z --pager --html --config-file --troff --preprocessor -p -l --local-file -M -r
less more · -o -O -k -K --log-file --LOG-FILE --lesskey-file --lesskey-src --lesskey-content -t -T --tag-file
bat batcat · --pager --config-file --lessopen --map-syntax
wc du · --files0-from
file · -C -m -f --compile --magic-file --files-from
date · -s -f --set --file
jq · -f -L --from-file --library-path
ls cat head tail cut tr nl od stat df comm paste fold tac rev basename dirname realpath readlink echo printf seq pwd which uname cmp ·
tree · -o --output -R --fromfile --info --infofile --gitfile
yq · -i --inplace --in-place -s --split-exp --split-exp-file -f --from-file --unsafe --load
docker podman · -v --volume --mount -H --host --config --context --privileged --device --cap-add --security-opt --env-file --entrypoint --network --net --pid --ipc --userns --volumes-from -f --file
  -o --output --tlscacert --secret --ssh --build-context -p -P --publish --publish-all --runtime --gpus --cgroupns --cgroup-parent --uts --group-add --sysctl --device-cgroup-rule --cidfile --iidfile
  --metadata-file --label-file --cache-to --allow --volume-driver --log-driver --use-api-socket --project-directory
kubectl helm · --kubeconfig --context --server -s --token --as -f --filename -k --kustomize --post-renderer --raw --exec --cluster --user --kube-as-user --kube-apiserver --kube-token
  --repository-config --plugins
gh · --show-token -t --web -w --hostname -F --body-file --input --template -R --repo
pip pip3 uv · --python --log --target -t --prefix --root --src --config-settings -C -r --requirement -c --constraint -i --index-url --extra-index-url --find-links -f --trusted-host --cert
  --client-cert --cache-dir --user --break-system-packages --editable -e --directory --project --env-file --config-file --with --script --global-option --build-option --report
sed gsed · -i -f --in-place --file -s -I
awk gawk mawk · -f -i -l -o -p -d -E -W --file --include --load --pretty-print --profile --dump-variables --exec --debug -D -g --gen-pot
gcc g++ clang clang++ cc c++ · -o -B -wrapper -specs -fplugin -load -Xclang -include -imacros -dumpdir -fdump-tree-all -MF -MD @
curl · @ -o -O -J -K -T -D -c -F -n -E -x -U -k -w -Q -: --output --output-dir --remote-name --remote-name-all --remote-header-name --config --upload-file --dump-header --cookie-jar --form --netrc
  --netrc-file --netrc-optional --cert --key --cacert --capath --proxy --proxy-header --preproxy --socks4 --socks4a --socks5 --socks5-hostname --unix-socket --abstract-unix-socket --resolve
  --connect-to --doh-url --interface --trace --trace-ascii --stderr --libcurl --hsts --alt-svc --etag-save --engine --insecure --write-out --quote --next --variable --ssl-sessions
wget · -O -o -a -P -i -e -B -b -r -m --output-document --output-file --append-output --directory-prefix --input-file --execute --config --use-askpass --post-file --body-file --load-cookies
  --save-cookies --warc-file --rejected-log --hsts-file --ca-certificate --certificate --private-key --no-check-certificate --base --background --recursive --mirror
`,
  ).flatMap(([programs = "", options = ""]) =>
    programs.split(" ").map((name) => [name, options.split(" ").filter((option) => option !== "")] as const)
  ),
);

/** These pass later arguments to a program of the project's scripts: `npm test -- --config=x`. */
const SCRIPTS = /^(npm|pnpm|yarn|bun|npx|cargo|uv|poetry|make|gmake|deno|bundle|go)$/;

/** These run a program of the project by its name, whose options count instead. */
export const RUNNER =
  /^(npx|bunx|uvx|((uv|poetry|pipenv|pdm|rye|hatch|pixi) run|bundle exec|(npm|pnpm|yarn) exec)) /;
/** A runner starts these only if a rule names them. */
const SHELLS =
  /^-|^(\w*sh|env|xargs|timeout|nice|nohup|sudo|exec|command|busybox|python[\d.]*|node|perl|ruby)$/;

/** Number of the words of a runner at a command's beginning. */
export function runnerWords(words: readonly string[]): number {
  return RUNNER.exec(words.slice(0, 3).join(" "))?.[1]?.split(" ").length ?? 0;
}

/** True for each word that only a rule with this very word covers. */
export function riskyWords(words: readonly string[]): readonly boolean[] {
  const runs = runnerWords(words);
  if (runs > 0) {
    const [, ...rest] = riskyWords(words.slice(runs));
    return [...Array<boolean>(runs).fill(false), SHELLS.test(words[runs] ?? ""), ...rest];
  }
  const [path = "", ...args] = words;
  const name = path.slice(path.lastIndexOf("/") + 1);
  const known = OPTIONS.get(name)?.concat(args.flatMap((arg) => OPTIONS.get(`${name}:${arg}`) ?? []));
  const end = args.indexOf("--");
  return [
    false,
    ...args.map((word, at) => {
      // "tar xf" is "tar -xf", and tsc ignores the case of options.
      const dash = at === 0 && /^(g|bsd)?tar$/.test(name) ? "-" : "";
      const arg = /tsc$/.test(name) ? word.toLowerCase() : dash + word;
      const risky = known?.some((option) => names(arg, option, known)) ?? UNKNOWN_OPTION.test(arg);
      if (end >= 0 && at > end) return SCRIPTS.test(name) && (risky || UNKNOWN_OPTION.test(arg));
      return risky || (/^g?make$/.test(name) && /^[\w.]+[:+?!]*=/.test(arg));
    }),
  ];
}

/** An unknown option with a value: `--config=evil.js`. */
const UNKNOWN_OPTION = /^-.*=/s;

function names(arg: string, option: string, all: readonly string[]): boolean {
  if (option === "@") return /^(-\w|--[\w-]+=)?@/.test(arg);
  if (!option.startsWith("-")) return arg === option;
  if (!/^-./.test(arg) || arg === "--") return false;
  // Node treats "_" as "-".
  const flag = arg.replace(/=.*$/s, "").replaceAll(/(?<=\w)_/g, "-");
  if (option.startsWith("--")) {
    return flag.length > 2 && flag.startsWith("--") && option.startsWith(flag);
  }
  // Programs with long options after one dash, such as find and go, do not combine letters.
  const whole = all.some((one) => /^-[^-]./.test(one));
  return whole ? flag.replace(/^--/, "-") === option : /^-[^-]/.test(arg) && arg.includes(option.charAt(1));
}
