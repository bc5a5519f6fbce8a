/**
 * Programs that run another one, and which of their words belong to it. Data, and the function that removes
 * the others.
 */
import { type Arguments, has, readArguments, valuesOf } from "../../shared/getopt.ts";
import { UNKNOWN } from "./places.ts";
import type { Scene } from "./scene.ts";
import { judgeAs, type Judgement, judgementOf, READS, rows, worst } from "./severity.ts";

/**
 * Columns: names, or a name and its first operand · options with a value · number of operands before the
 * other's words, or whether they are text for a shell, "joined" or "each" · options whose value is such text
 * · the wrapper's own effect.
 */
const WRAPPERS = new Map(
  rows(`
nohup,command,builtin,setsid,unbuffer,chronic,eatmydata,busybox,toybox,dbus-run-session,arch,prlimit
exec · -a
nice · -n --adjustment
ionice · -c -n -p -P -u --class --classdata --pid
timeout,gtimeout · -k -s --kill-after --signal · 1
time,gtime · -f -o --format --output
env · -u -C -S -a --unset --chdir --split-string --argv0 · 0 · -S --split-string
stdbuf · -i -o -e --input --output --error
taskset,setarch,chrt,linux32,linux64 · · 1
xvfb-run,caffeinate · -n -s -f -e -p -w -t --server-num --server-args
sudo · -u -g -h -p -C -r -t -T -U -D -R --user --group --host --prompt --chdir --chroot · 0 · · high write runs as another user
doas,pkexec,setpriv · -u -C --user --reuid --regid · 0 · · high write runs as another user
su,runuser · -c -s -g -G -u --command --shell --group --user · 1 · -c --command · high write runs as another user
chroot · --userspec --groups · 1 · · high write runs in another name space
unshare,nsenter,bwrap,firejail,fakeroot,systemd-run · -R -w -t -S -G -u -p · 0 · · high write runs in another name space
strace,ltrace,valgrind,entr,rlwrap,perf stat · -e -o -p -s -u -a -n -l -r · 0 · · medium look runs a program
flock · -w -E -c --timeout --command · 1 · -c --command · medium look runs a program
watch · -n -q --interval · joined
script · -c -I -O -B -T --command · 99 · -c --command · medium write writes a file
hyperfine · -w -m -M -r -s -p -c -S -n · each · -s -p -c --setup --prepare --cleanup · medium look runs a program
concurrently · -n -c -k -p --names · each
nodemon · -e -w -x -i --exec --watch --ext · 0 · -x --exec · medium look runs a program
parallel · -j -a -I -N -n -S --jobs --arg-file · joined
poetry run,pipenv run,pdm run,rye run,hatch run,bundle exec,mise exec,mise x,asdf exec,yarn exec,uv run,pixi run,conda run
  · -p -m -e -n --with --python --extra --group --project --env-file · 0 · · medium look runs a program
npm exec,npm x,npx,pnpm exec,pnpm dlx,yarn dlx,bunx,uvx · -c -p -w --call --package --workspace --from --with --python · 0
  · -c --call · medium look may fetch and run a package
rustup run,direnv exec · · 1 · · medium look runs a program
nix-shell · -p -I -A --run --command --packages · 99 · --run --command · medium look runs a program
docker exec,podman exec,docker-compose exec · -e -u -w --env --user --workdir · 1 · · medium write runs in a container
kubectl exec · -n -c --namespace --container · 1 · · high write+network runs in a cluster
xargs,gxargs · -a -d -E -I -J -L -n -P -R -S -s --arg-file --delimiter --max-lines --max-args --max-procs
`).flatMap(([names = "", valued = "", skip = "0", shell = "", own]) => {
      const wrapper = { valued, skip, shell, own: own === undefined ? READS : judgementOf(own) };
      return names.split(",").map((name) => [name, wrapper] as const);
    }),
);

/** Judges a wrapper and passes the inner command to the scene; undefined if the words are not a wrapper. */
export function unwrap([name = "", ...args]: readonly string[], scene: Scene): Judgement | undefined {
  const pair = WRAPPERS.get(`${name} ${args[0] ?? ""}`);
  const wrapper = pair ?? WRAPPERS.get(name);
  if (wrapper === undefined) return undefined;
  const { valued, skip, shell, own } = wrapper;
  const invocation = readArguments(pair === undefined ? args : args.slice(1), valued, "operand");
  if (
    (name === "command" && has(invocation, "-v -V")) || (name === "exec" && invocation.operands.length === 0)
  ) {
    return READS;
  }
  for (const text of valuesOf(invocation, shell)) {
    scene.shell([text, ...(name === "env" ? invocation.operands : [])].join(" "));
  }
  const inner = invocation.operands.slice(Number(skip) || 0);
  // NAME=value may precede the inner words.
  const set = /^(env|sudo|doas)$/.test(name) ? inner.findIndex((word) => !/^[A-Za-z_]\w*=/.test(word)) : 0;
  const assigned = inner.splice(0, set < 0 ? inner.length : set).map((word) => judgeVariable(word));
  if (inner[0] === "--") inner.shift();
  if (name === "parallel" && !inner.includes(":::")) inner.push(UNKNOWN);
  if (skip === "joined") scene.shell(inner.filter((word) => word !== ":::").join(" "));
  else if (skip === "each") { for (const text of inner) scene.shell(text); }
  else if (/xargs$/.test(name)) feed(inner, invocation, scene);
  else scene.run(inner, scene.input);
  return worst(own, ...assigned);
}

/** The input of xargs becomes further words, or replaces a placeholder. */
function feed(words: readonly string[], invocation: Arguments, scene: Scene): void {
  const input = has(invocation, "-a --arg-file") ? { kind: "unknown" } as const : scene.input;
  const [hole] = [...valuesOf(invocation, "-I -J --replace"), ...(has(invocation, "-i") ? ["{}"] : [])];
  const read = input.kind === "text"
    ? input.text.split(hole === undefined ? /\s+/ : "\n").filter((word) => word !== "").slice(0, 100)
    : input.kind === "names"
    ? input.names
    : [UNKNOWN];
  if (hole === undefined) scene.run([...words, ...read]);
  else for (const one of read) scene.run(words.map((word) => word.replaceAll(hole, one)));
}

/** Variables that make programs run something other than their command says. */
const HIJACKS =
  /^(PATH|LD_\w+|DYLD_\w+|BASH_ENV|ENV|PROMPT_COMMAND|PS4|IFS|BASH_FUNC\w*|BASH_LOADABLES_PATH)$/;
const STEERS =
  /^(\w*PAGER|\w*EDITOR|VISUAL|BROWSER|LESSOPEN|GIT_\w+|SSH_\w+|PYTHON(PATH|STARTUP|INSPECT|HOME)|PERL5\w+|RUBY(OPT|LIB)|NODE_(OPTIONS|PATH)|\w+_(OPTIONS|WRAPPER|COMMAND)|npm_config_\w+|MAKEFLAGS|GOFLAGS|RUSTFLAGS|RIPGREP_CONFIG_PATH|HOME|XDG_\w+)$/;

/** @param assignment "NAME=value" */
export function judgeVariable(assignment: string): Judgement {
  const [name = "", ...rest] = assignment.split("=");
  const value = rest.join("=");
  // Disabling the pager is common practice, and a single character of IFS is for read.
  if (/(PAGER|EDITOR)$/.test(name) && /^(cat|true|:)?$/.test(value)) return READS;
  if (/^GIT_(TERMINAL_PROMPT|OPTIONAL_LOCKS|AUTHOR_\w+|COMMITTER_\w+)$/.test(name)) return READS;
  if (name === "IFS" && !/\w/.test(value)) return READS;
  const severity = HIJACKS.test(name) ? "high" : STEERS.test(name) ? "medium" : "none";
  return severity === "none" ? READS : judgeAs(severity, `sets ${name}, which other programs obey`, "look");
}
