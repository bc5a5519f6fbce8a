/** Programs that run another: which of their words are the other's. Data, and the function that takes them off. */
import { has, readArguments, valuesOf } from "./options.ts";
import { UNKNOWN } from "./places.ts";
import type { Scene } from "./scene.ts";
import { judged, type Judgement, READS, worst } from "./severity.ts";
import { judgeVariable } from "./variables.ts";

interface Wrapper {
  /** Options that take their value from the next argument. */
  readonly valued?: string;
  /** Operands before the other's words: the 5 of `timeout 5 cmd`. */
  readonly skip?: number;
  /** Options whose value is text for a shell. */
  readonly shell?: string;
  /** All operands are joined into text for a shell: watch; or each is one: hyperfine. */
  readonly text?: "joined" | "each";
  readonly own?: Judgement;
}

const root = judged("high", "runs as another user");
const elsewhere = judged("high", "runs in another name space");
const observes = judged("medium", "runs a program", "look");
const fetches = judged("medium", "may fetch and run a package", "look");
const inContainer = judged("medium", "runs in a container");

/** Keys are a program's name, or its name and first operand. */
const WRAPPERS: Readonly<Record<string, Wrapper>> = {
  "nohup,command,builtin,setsid,unbuffer,chronic,eatmydata,busybox,toybox,dbus-run-session,arch,prlimit,catchsegv":
    {},
  exec: { valued: "-a" },
  nice: { valued: "-n --adjustment" },
  ionice: { valued: "-c -n -p -P -u --class --classdata --pid" },
  "timeout,gtimeout": { valued: "-k -s --kill-after --signal", skip: 1 },
  "time,gtime": { valued: "-f -o --format --output" },
  env: { valued: "-u -C -S -a --unset --chdir --split-string --argv0", shell: "-S --split-string" },
  stdbuf: { valued: "-i -o -e --input --output --error" },
  "taskset,setarch,chrt,linux32,linux64": { skip: 1 },
  caffeinate: { valued: "-t -w" },
  "xvfb-run": { valued: "-n -s -f -e -p -w --server-num --server-args" },
  sudo: {
    valued: "-u -g -h -p -C -r -t -T -U -D -R --user --group --host --prompt --chdir --chroot",
    own: root,
  },
  "doas,pkexec,setpriv": { valued: "-u -C --user --reuid --regid", own: root },
  "su,runuser": {
    valued: "-c -s -g -G -u --command --shell --group --user",
    shell: "-c --command",
    skip: 1,
    own: root,
  },
  chroot: { valued: "--userspec --groups", skip: 1, own: elsewhere },
  "unshare,nsenter,bwrap,firejail,fakeroot,systemd-run": { valued: "-R -w -t -S -G -u -p", own: elsewhere },
  "strace,ltrace,valgrind,entr,rlwrap": { valued: "-e -o -p -s -u -a -n -l", own: observes },
  "perf stat": { valued: "-e -o -r", own: observes },
  flock: { valued: "-w -E -c --timeout --command", skip: 1, shell: "-c --command", own: observes },
  watch: { valued: "-n -q --interval", text: "joined" },
  script: {
    valued: "-c -I -O -B -T --command",
    shell: "-c --command",
    skip: 99,
    own: judged("medium", "writes a file"),
  },
  hyperfine: {
    valued: "-w -m -M -r -s -p -c -S -n",
    shell: "-s -p -c --setup --prepare --cleanup",
    text: "each",
    own: observes,
  },
  concurrently: { valued: "-n -c -k -p --names", text: "each", own: observes },
  nodemon: { valued: "-e -w -x -i --exec --watch --ext", shell: "-x --exec", own: observes },
  parallel: { valued: "-j -a -I -N -n -S --jobs --arg-file", text: "joined", own: observes },
  "poetry run,pipenv run,pdm run,rye run,hatch run,bundle exec,mise exec,mise x,asdf exec,yarn exec": {
    own: observes,
  },
  "pixi run,conda run": { valued: "-e -n -p --environment --name", own: observes },
  "uv run": { valued: "-p -m --with --python --extra --group --project --env-file --package", own: observes },
  "npm exec,npm x,npx,pnpm exec,pnpm dlx,yarn dlx,bunx,uvx": {
    valued: "-c -p -w --call --package --workspace --from --with --python",
    shell: "-c --call",
    own: fetches,
  },
  "rustup run,direnv exec": { skip: 1, own: observes },
  "nix-shell": {
    valued: "-p -I -A --run --command --packages",
    shell: "--run --command",
    skip: 99,
    own: observes,
  },
  "docker exec,podman exec,docker-compose exec": {
    valued: "-e -u -w --env --user --workdir",
    skip: 1,
    own: inContainer,
  },
  "kubectl exec": {
    valued: "-n -c --namespace --container",
    skip: 1,
    own: judged("high", "runs in a cluster", "write", true),
  },
  "xargs,gxargs": {
    valued: "-a -d -E -I -J -L -n -P -R -S -s --arg-file --delimiter --max-lines --max-args --max-procs",
  },
};

const BY_NAME = new Map(
  Object.entries(WRAPPERS).flatMap(([names, wrapper]) =>
    names.split(",").map((name) => [name, wrapper] as const)
  ),
);

/** With no command of its own a wrapper may start a shell: sudo -i, su -. */
const STARTS_SHELL = /^(sudo|doas|su|runuser|chroot|unshare|nsenter|script)$/;

/** Judges a wrapper and hands what it runs back to the scene; undefined if the words are none. */
export function unwrap([name = "", ...args]: readonly string[], scene: Scene): Judgement | undefined {
  const pair = BY_NAME.get(`${name} ${args[0] ?? ""}`);
  const wrapper = pair ?? BY_NAME.get(name);
  if (wrapper === undefined) return undefined;
  const given = readArguments(pair === undefined ? args : args.slice(1), wrapper.valued, "operand");
  if (name === "command" && has(given, "-v -V")) return READS;
  if (name === "exec" && given.operands.length === 0) return READS;
  for (const text of valuesOf(given, wrapper.shell ?? "")) {
    scene.shell([text, ...(name === "env" ? given.operands : [])].join(" "));
  }
  const inner = given.operands.slice(wrapper.skip ?? 0);
  // NAME=value may stand before the other's words.
  const set = /^(env|sudo|doas)$/.test(name) ? inner.findIndex((word) => !/^[A-Za-z_]\w*=/.test(word)) : 0;
  const assigned = inner.splice(0, set < 0 ? inner.length : set).map((word) => judgeVariable(...split(word)));
  if (inner[0] === "--") inner.shift();
  if (inner.length > 0) start(name, wrapper, inner, given.all, scene);
  if (given.operands.length === 0 && STARTS_SHELL.test(name)) return judged("high", "starts a shell");
  return worst(wrapper.own ?? READS, ...assigned);
}

function split(word: string): readonly [name: string, value: string] {
  const at = word.indexOf("=");
  return [word.slice(0, at), word.slice(at + 1)];
}

function start(
  name: string,
  wrapper: Wrapper,
  inner: readonly string[],
  all: readonly string[],
  scene: Scene,
): void {
  const fed = name === "parallel" && !inner.includes(":::")
    ? [...inner, UNKNOWN]
    : inner.filter((word) => word !== ":::");
  if (wrapper.text === "joined") scene.shell(fed.join(" "));
  else if (wrapper.text === "each") { for (const text of inner) scene.shell(text); }
  else if (/xargs$/.test(name)) feed(inner, readArguments(all, wrapper.valued, "operand"), scene);
  else scene.run(inner, scene.input);
}

/** What xargs reads becomes further words, or stands in the place of a hole. */
function feed(words: readonly string[], given: ReturnType<typeof readArguments>, scene: Scene): void {
  const { input } = scene;
  const known = !has(given, "-a --arg-file");
  const more = known && input.kind === "text"
    ? input.text.split(/\s+/).filter((word) => word !== "").slice(0, 100)
    : known && input.kind === "names"
    ? input.names
    : [UNKNOWN];
  const [hole] = [...valuesOf(given, "-I -J --replace"), ...(has(given, "-i") ? ["{}"] : [])];
  if (hole === undefined) return scene.run([...words, ...more]);
  const text = known && input.kind === "text" ? input.text.split("\n").slice(0, 20) : more;
  for (const one of text) scene.run(words.map((word) => word.replaceAll(hole, one)));
}
