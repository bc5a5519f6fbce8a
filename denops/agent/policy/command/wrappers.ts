/** Programs that run another: which of their words are the other's. Data, and the function that takes them off. */
import { find, has, readArguments, valuesOf } from "./options.ts";
import { UNKNOWN } from "./places.ts";
import type { Inner, Judge, Scene } from "./scene.ts";
import { HARMLESS, judged, type Judgement, type Severity, worst } from "./severity.ts";
import { isGuarding, isPlainVariable, judgeAssignment } from "./variables.ts";

interface Wrapper {
  /** Options that take their value from the next argument. */
  readonly valued?: string;
  /** Operands before the other's words: the 5 of `timeout 5 cmd`. */
  readonly skip?: number;
  /** NAME=value may stand before the other's words. */
  readonly assigns?: true;
  /** Options whose value is text for a shell. */
  readonly shell?: string;
  /** All operands are joined into text for a shell: watch; or each is one: hyperfine. */
  readonly text?: "joined" | "each";
  /** The wrapper's own; without one it adds nothing to what it runs. */
  readonly own?: readonly [Severity, string];
}

const root = ["high", "runs as another user"] as const;
const elsewhere = ["high", "runs in another name space"] as const;
const observes = ["medium", "runs a program"] as const;

/** Keys are a program's name, or its name and first operand. */
const WRAPPERS: Readonly<Record<string, Wrapper>> = {
  nohup: {},
  command: {},
  builtin: {},
  exec: { valued: "-a" },
  nice: { valued: "-n --adjustment" },
  ionice: { valued: "-c -n -p -P -u --class --classdata --pid" },
  timeout: { valued: "-k -s --kill-after --signal", skip: 1 },
  gtimeout: { valued: "-k -s --kill-after --signal", skip: 1 },
  time: { valued: "-f -o --format --output" },
  gtime: { valued: "-f -o --format --output" },
  env: { valued: "-u -C -S -a -P --unset --chdir --split-string --argv0", assigns: true },
  stdbuf: { valued: "-i -o -e --input --output --error" },
  setsid: {},
  taskset: { skip: 1 },
  chrt: { valued: "-T -P -D --sched-runtime --sched-deadline --sched-period", skip: 1 },
  unbuffer: {},
  chronic: {},
  eatmydata: {},
  caffeinate: { valued: "-t -w" },
  busybox: {},
  toybox: {},
  "xvfb-run": { valued: "-n -s -f -e -p -w --server-num --server-args" },
  "dbus-run-session": {},
  sudo: {
    valued: "-u -g -h -p -C -r -t -T -U -D -R --user --group --host --prompt --chdir --chroot --role --type",
    assigns: true,
    own: root,
  },
  doas: { valued: "-u -C", own: root },
  pkexec: { valued: "--user", own: root },
  su: {
    valued: "-c -s -g -G -w --command --shell --group --session-command",
    shell: "-c --command --session-command",
    skip: 1,
    own: root,
  },
  runuser: { valued: "-u -g -G -s -c --user --command --shell", shell: "-c --command", own: root },
  setpriv: { valued: "--reuid --regid --groups", own: root },
  chroot: { valued: "--userspec --groups", skip: 1, own: elsewhere },
  unshare: { valued: "-R -w -S -G --root --wd --setuid --setgid", own: elsewhere },
  nsenter: { valued: "-t -S -G --target --setuid --setgid", own: elsewhere },
  bwrap: { own: elsewhere },
  firejail: { own: elsewhere },
  fakeroot: { valued: "-l -s -i --lib --faked", own: observes },
  "systemd-run": {
    valued: "-u -p -M -H --unit --property --uid --gid --slice",
    own: ["high", "starts a service"],
  },
  strace: { valued: "-e -o -p -s -u -E -a -O -S -P -I -b -X --trace --output", own: observes },
  ltrace: { valued: "-e -o -p -s -u -a -n -l", own: observes },
  valgrind: { own: observes },
  "perf stat": { valued: "-e -o -r", own: observes },
  "perf record": { valued: "-e -o -F -g", own: observes },
  flock: {
    valued: "-w -E -c --timeout --wait --conflict-exit-code --command",
    skip: 1,
    shell: "-c --command",
    own: observes,
  },
  watch: { valued: "-n -q --interval --equexit", text: "joined" },
  script: { valued: "-c -I -O -B -T -m -o -E --command", shell: "-c --command", own: observes },
  hyperfine: {
    valued: "-w -m -M -r -s -p -c -S -n --warmup --runs --min-runs --max-runs --setup --prepare --cleanup",
    shell: "-s -p -c --setup --prepare --cleanup --conclude",
    text: "each",
    own: observes,
  },
  concurrently: { valued: "-n -c -k -p --names", text: "each", own: observes },
  entr: { own: observes },
  watchexec: { valued: "-e -w -i -f --exts --watch --ignore", own: observes },
  nodemon: { valued: "-e -w -x -i --exec --watch --ext --ignore", shell: "-x --exec", own: observes },
  parallel: {
    valued: "-j -a -I -N -n -S --jobs --arg-file --joblog --results --timeout",
    text: "joined",
    own: observes,
  },
  rlwrap: { own: observes },
  arch: {},
  setarch: { skip: 1 },
  prlimit: {},
  torsocks: { own: ["high", "runs a program over the network"] },
  proxychains: { own: ["high", "runs a program over the network"] },
  dotenv: { valued: "-f -e -p -v", own: observes },
  "direnv exec": { skip: 1, own: ["high", "loads a file of variables"] },
  "mise exec": { own: observes },
  "mise x": { own: observes },
  "asdf exec": { own: observes },
  "rustup run": { skip: 1, own: observes },
  "poetry run": { own: observes },
  "pipenv run": { own: observes },
  "pdm run": { own: observes },
  "rye run": { own: observes },
  "hatch run": { own: observes },
  "pixi run": { valued: "-e --environment", own: observes },
  "conda run": { valued: "-n -p --name --prefix", own: observes },
  "uv run": {
    valued:
      "-p -m --with --python --extra --group --project --env-file --package --directory --with-requirements",
    own: observes,
  },
  "bundle exec": { own: observes },
  "npm exec": { valued: "-c -p -w --call --package --workspace", shell: "-c --call", own: observes },
  "npm x": { valued: "-c -p -w --call --package --workspace", shell: "-c --call", own: observes },
  npx: {
    valued: "-c -p --call --package",
    shell: "-c --call",
    own: ["medium", "may fetch and run a package"],
  },
  bunx: { valued: "-p --package", own: ["medium", "may fetch and run a package"] },
  uvx: { valued: "--from --with -p --python", own: ["medium", "may fetch and run a package"] },
  "pnpm exec": { shell: "-c --shell-mode", own: observes },
  "pnpm dlx": { valued: "--package", own: ["medium", "may fetch and run a package"] },
  "yarn exec": { own: observes },
  "yarn dlx": { valued: "-p --package", own: ["medium", "may fetch and run a package"] },
  "nix-shell": {
    valued: "-p -I -A --run --command --packages --arg --argstr",
    shell: "--run --command",
    skip: 99,
    own: observes,
  },
  "docker exec": {
    valued: "-e -u -w --env --user --workdir --env-file",
    skip: 1,
    own: ["medium", "runs in a container"],
  },
  "podman exec": {
    valued: "-e -u -w --env --user --workdir --env-file",
    skip: 1,
    own: ["medium", "runs in a container"],
  },
  "docker-compose exec": { valued: "-e -u -w", skip: 1, own: ["medium", "runs in a container"] },
  "kubectl exec": {
    valued: "-n -c -f --namespace --container --filename",
    skip: 1,
    own: ["high", "runs in a cluster"],
  },
};

/** With no command of its own a wrapper may start a shell: sudo -i, su -. */
const STARTS_SHELL = new Set(["sudo", "doas", "su", "runuser", "chroot", "unshare", "nsenter", "script"]);

export interface Unwrapped {
  readonly judgement: Judgement;
  /** True if the wrapper adds nothing to what it runs. */
  readonly transparent: boolean;
}

/** Judges a wrapper and hands what it runs back to the scene; undefined if the words are none. */
export function unwrap(words: readonly string[], scene: Scene): Unwrapped | undefined {
  const [name = "", first = ""] = words;
  const pair = Object.hasOwn(WRAPPERS, `${name} ${first}`) ? WRAPPERS[`${name} ${first}`] : undefined;
  const wrapper = pair ?? (Object.hasOwn(WRAPPERS, name) ? WRAPPERS[name] : undefined);
  if (wrapper === undefined) return undefined;
  const rest = words.slice(pair === undefined ? 1 : 2);
  const given = readArguments(rest, wrapper.valued, "operand");
  if (name === "command" && has(given, "-v -V")) return { judgement: HARMLESS, transparent: false };
  const operands = [...given.operands];
  const extra = [own(wrapper, name, operands), special(name, given, scene)];
  const assignments = wrapper.assigns ? takeAssignments(operands) : [];
  for (const assignment of assignments) extra.push(judgeAssignment(assignment));
  for (const text of valuesOf(given, wrapper.shell ?? "")) scene.shell(text);
  const inner = operands.slice(wrapper.skip ?? 0);
  if (inner[0] === "--") inner.shift();
  const folder = valuesOf(given, "-C --chdir --directory -w --workdir")[0];
  if (inner.length > 0) runInner(wrapper, inner, scene, wrapper.valued?.includes("-C") ? folder : undefined);
  const judgement = worst(...extra);
  const plain = assignments.every((one) => isPlainVariable(one.slice(0, one.indexOf("="))));
  // Another folder, or another name than the one that is seen: no rule on what is run means that.
  const same = folder === undefined &&
    !(/^(env|exec)$/.test(name) && has(given, "-a --argv0 -S --split-string"));
  return { judgement, transparent: plain && same && judgement.severity === "none" && !judgement.writes };
}

function own({ own }: Wrapper, name: string, operands: readonly string[]): Judgement {
  if (operands.length === 0 && STARTS_SHELL.has(name)) {
    return judged("high", "starts a shell", { writes: true });
  }
  return own === undefined ? HARMLESS : judged(own[0], own[1], { writes: own[0] !== "none" });
}

function runInner(wrapper: Wrapper, inner: readonly string[], scene: Scene, folder?: string): void {
  const where = folder === undefined ? {} : { folder };
  // What parallel reads from its input becomes part of the text.
  const fed = wrapper === WRAPPERS.parallel && !inner.includes(":::") ? [...inner, UNKNOWN] : inner;
  if (wrapper.text === "joined") scene.shell(fed.join(" "), where);
  else if (wrapper.text === "each") { for (const text of inner) scene.shell(text, where); }
  else scene.run(inner, where);
}

/** What some wrappers do besides. */
function special(name: string, given: ReturnType<typeof readArguments>, scene: Scene): Judgement {
  if (name === "env") {
    for (const text of valuesOf(given, "-S --split-string")) {
      scene.shell([text, ...given.operands].join(" "));
    }
  }
  const taken = name === "env" ? valuesOf(given, "-u --unset") : [];
  if (
    name === "env" && has(given, "-i --ignore-environment") || name === "exec" && has(given, "-c") ||
    taken.some((one) => isGuarding(one) || one.includes(UNKNOWN))
  ) return judged("medium", "takes variables away that programs obey", { writes: true });
  if ((name === "time" || name === "gtime" || name === "script") && has(given, "-o --output -O")) {
    return judged("medium", "writes a file", { writes: true });
  }
  if (name === "exec" && given.operands.length === 0) return judged("none", "redirects");
  if (name === "unshare" || name === "nsenter") return judged("high", "runs in another name space");
  return find(given, "--rcfile --init-file") === undefined
    ? HARMLESS
    : judged("high", "reads other start files");
}

function takeAssignments(operands: string[]): readonly string[] {
  const count = operands.findIndex((word) => !/^[A-Za-z_]\w*=/.test(word));
  return operands.splice(0, count < 0 ? operands.length : count);
}

export const judgeXargs: Judge = (args, scene) => {
  const given = readArguments(args, XARGS_VALUED, "operand");
  if (given.operands.length === 0) return HARMLESS;
  const known = scene.input.kind === "text" && !has(given, "-a --arg-file");
  const text = known && scene.input.kind === "text" ? scene.input.text : UNKNOWN;
  const [hole] = [...valuesOf(given, "-I -J --replace"), ...(has(given, "-i") ? ["{}"] : [])];
  if (hole === undefined) {
    // With nothing on its input it runs the command once as it stands.
    if (text === UNKNOWN) scene.run(given.operands, NO_INPUT);
    scene.run([...given.operands, ...split(text, /\s+/)], NO_INPUT);
  } else {
    // With a placeholder each line is one word.
    for (const word of split(text, /\n/)) {
      scene.run(
        given.operands.map((operand) => operand.replaceAll(hole === "" ? "{}" : hole, word)),
        NO_INPUT,
      );
    }
  }
  return HARMLESS;
};

const XARGS_VALUED =
  "-a -d -E -I -J -L -n -P -R -S -s --arg-file --delimiter --max-lines --max-args --max-procs --max-chars";
const NO_INPUT: Inner = { input: { kind: "nothing" } };

function split(text: string, at: RegExp): readonly string[] {
  return text.split(at).filter((word) => word !== "").slice(0, 100);
}
