/** Shells and other interpreters: text that they are given to run is judged, files are noted. */
import { judgeCode } from "./code.ts";
import { has, readArguments, valuesOf } from "./options.ts";
import { UNKNOWN } from "./places.ts";
import type { Judge, Language, Scene } from "./scene.ts";
import { HARMLESS, judged, type Judgement, worst } from "./severity.ts";

const STARTS = judged("medium", "starts an interpreter", { writes: true });
const UNKNOWN_TEXT = judged("high", "runs text that is only known when it runs", { writes: true });

/** Their language is the one that is read here; zsh and the like differ where it matters. */
const COMMON = new Set(["sh", "bash", "dash", "ash", "rbash"]);

export const SHELLS: readonly string[] = [
  ...COMMON,
  "zsh",
  "ksh",
  "mksh",
  "fish",
  "csh",
  "tcsh",
  "pwsh",
  "powershell",
  "nu",
  "elvish",
  "xonsh",
  "osh",
  "yash",
  "cmd",
];

/** sh may be dash, which reads these otherwise, so that other parts of the text are commands. */
const MAY_BE_DASH = new Set(["sh", "dash", "ash"]);
const ONLY_BASH = /\$'|\$"|\[\[|(^|[^$])\(\(|&>|\|&|<<<|[<>]\(|\$\[|\b(coproc|function|select)\b|[\w]=\(/;

function judgeDialect(name: string, text: string): Judgement {
  return MAY_BE_DASH.has(name) && ONLY_BASH.test(text)
    ? judged("high", "gives sh what only bash reads as meant", { writes: true })
    : HARMLESS;
}

export const judgeShell: Judge = (args, scene, name) => {
  const valued = "-o -O --rcfile --init-file";
  const given = readArguments(args.map((arg) => arg.replace(/^\+/, "-")), valued, "operand");
  const foreign = COMMON.has(name) ? HARMLESS : judged("high", `runs ${name}, another language`);
  const start = has(given, "--rcfile --init-file")
    ? judged("high", "reads other start files", { writes: true })
    : HARMLESS;
  const keywords =
    has(given, "-k -H") || valuesOf(given, "-o -O").some((value) => /^(keyword|hist)/.test(value))
      ? judged("high", "changes how the shell reads what follows", { writes: true })
      : HARMLESS;
  const [text, ...positional] = given.operands;
  if (has(given, "-c -Command -EncodedCommand --command /c")) {
    if (text === undefined) {
      return worst(judged("high", "gives a shell text that looks like an option"), foreign);
    }
    scene.shell(text, { positional: positional.length > 0 ? positional : [name], input: scene.input });
    return worst(foreign, start, keywords, judgeDialect(name, text));
  }
  const source = text === undefined || has(given, "-s")
    ? runInput(scene, "shell", name)
    : runFile(text, scene, "shell");
  const fed = scene.input.kind === "text" ? judgeDialect(name, scene.input.text) : HARMLESS;
  return worst(source, foreign, start, keywords, fed);
};

/** Runs what stands on its input. */
function runInput(scene: Scene, language: Language, name: string): Judgement {
  switch (scene.input.kind) {
    case "nothing":
      return STARTS;
    case "unknown":
      scene.note({ kind: "runs unknown text" });
      return UNKNOWN_TEXT;
    case "file":
      return runFile(scene.input.path, scene, language);
    case "text":
      if (language === "code") return judgeCode(scene.input.text, name, scene);
      scene.shell(scene.input.text, { input: { kind: "nothing" } });
      return HARMLESS;
  }
}

/** Runs a file: its content is not known here but where the line itself made it. */
export function runFile(path: string, scene: Scene, language: Language, name = "sh"): Judgement {
  if (/^(\/dev\/(stdin|fd\/0)|-)$/.test(path)) return runInput(scene, language, name);
  if (/^\/dev\/(tcp|udp)\//.test(path)) {
    return judged("critical", "runs what comes from the network", { network: true, writes: true });
  }
  if (path.includes(UNKNOWN) || /[*?]/.test(path)) {
    scene.note({ kind: "runs unknown text" });
    return UNKNOWN_TEXT;
  }
  if (/^(https?|ftp|file|data|npm|jsr):/.test(path)) {
    return judged("high", "runs a program from the network", { network: true, writes: true });
  }
  scene.note({ kind: "runs file", path, language });
  return judged("medium", "runs a script", { writes: true });
}

interface Interpreter {
  /** Options whose argument is code. */
  readonly code: string;
  readonly valued?: string;
  /** First operands whose next argument is code: `deno eval`. */
  readonly evaluates?: string;
  /** First operands that come before a script: `bun run x.ts`. */
  readonly before?: string;
}

const INTERPRETERS: Readonly<Record<string, Interpreter>> = {
  python: { code: "-c", valued: "-W -X -m --check-hash-based-pycs" },
  perl: { code: "-e -E", valued: "-I -M -m -x" },
  ruby: { code: "-e", valued: "-I -r -C -E -x" },
  node: {
    code: "-e -p -pe --eval --print",
    valued:
      "-r -C --require --import --loader --experimental-loader --env-file --conditions --input-type --title",
  },
  deno: {
    code: "-e",
    evaluates: "eval",
    before: "run",
    valued: "-c --config --import-map -L --location --seed",
  },
  bun: { code: "-e -p --eval --print", before: "run", valued: "-r -c --preload --config --cwd" },
  php: { code: "-r -R -B -E", valued: "-d -c -f -z -t" },
  lua: { code: "-e", valued: "-l" },
  Rscript: { code: "-e" },
  R: { code: "-e -f" },
  julia: { code: "-e -E --eval --print", valued: "-L -J -p -t --project --load --threads" },
  ghc: { code: "-e" },
  runghc: { code: "-e" },
  elixir: { code: "-e --eval", valued: "-r -S" },
  erl: { code: "-eval -run -s" },
  groovy: { code: "-e" },
  scala: { code: "-e" },
  jshell: { code: "-s" },
  clojure: { code: "-e --eval" },
  tclsh: { code: "-c" },
  expect: { code: "-c", valued: "-f" },
  racket: { code: "-e --eval" },
  guile: { code: "-c" },
  sbcl: { code: "--eval" },
  emacs: { code: "--eval -eval --execute -f --funcall -l --load --script" },
  osascript: { code: "-e" },
  gdb: { code: "-ex -eval-command --eval-command -x -iex", valued: "-p" },
  lldb: { code: "-o -O --one-line -s --source" },
};

/** Other names of the same: python3.12, nodejs, luajit, pypy3. */
const ALIASES: readonly (readonly [RegExp, string])[] = [
  [/^(python|pypy|ipython)[\d.]*$/, "python"],
  [/^perl[\d.]*$/, "perl"],
  [/^(ruby|jruby|irb)[\d.]*$/, "ruby"],
  [/^(node|nodejs|tsx|ts-node|electron)[\d.]*$/, "node"],
  [/^php[\d.]*(-cgi)?$/, "php"],
  [/^(lua|luajit|texlua|tarantool)[\d.]*$/, "lua"],
  [/^(tclsh|wish|expect)[\d.]*$/, "tclsh"],
  [/^(scala|groovy|kotlin|ghc|ghci|runghc|runhaskell)$/, "groovy"],
  [/^(clj|clojure|bb|racket|guile|sbcl|elixir|iex|erl|R|Rscript|julia|jshell)$/, ""],
  [/^(deno|bun|emacs|emacsclient|osascript|gdb|lldb)$/, ""],
];

/** The interpreter of this name; undefined if it is none. */
export function interpreterOf(name: string): string | undefined {
  const found = ALIASES.find(([pattern]) => pattern.test(name));
  if (found === undefined) return undefined;
  return found[1] === "" ? name : found[1];
}

/** deno and bun have further subcommands, which are judged as those of other tools. */
export const judgeInterpreter: Judge = (args, scene, name) => {
  const key = interpreterOf(name) ?? name;
  const interpreter = Object.hasOwn(INTERPRETERS, key) ? INTERPRETERS[key] : undefined;
  const { code, valued = "", evaluates, before } = interpreter ?? { code: "-e -c --eval" };
  const given = readArguments(args, valued, "operand");
  const flags = code.split(" ");
  const inline = has(given, code) || args.some((arg) => flags.some((flag) => arg === flag)) ||
    (evaluates !== undefined && given.operands[0] === evaluates);
  if (inline) {
    return worst(judgeCode(args.join("\n"), name, scene), noteUnknown(args, flags, scene));
  }
  const [module] = key === "python" ? valuesOf(given, "-m") : [];
  if (module !== undefined) return runModule(module, args, scene);
  const preload = valuesOf(given, "-r --require --import --loader --experimental-loader --preload");
  for (const file of preload) runFile(file, scene, "code", name);
  const operands = given.operands[0] === before ? given.operands.slice(1) : given.operands;
  const script = operands.find((operand) => !operand.startsWith("-") || operand === "-");
  return script === undefined ? runInput(scene, "code", name) : runFile(script, scene, "code", name);
};

/** `python -c "$X"`: it may be what the line downloads. Data that follows the code is another matter. */
function noteUnknown(args: readonly string[], flags: readonly string[], scene: Scene): Judgement {
  const code = args.find((_, index) => flags.includes(args[index - 1] ?? "")) ?? args[1] ?? "";
  if (code.trim().startsWith(UNKNOWN)) scene.note({ kind: "runs unknown text" });
  return code.includes(UNKNOWN) ? UNKNOWN_TEXT : HARMLESS;
}

function runModule(module: string, args: readonly string[], scene: Scene): Judgement {
  const rest = args.slice(args.findIndex((arg) => arg.startsWith("-m")) + 1);
  const after = rest[0] === module ? rest.slice(1) : rest;
  if (module === "pip" || module === "pipx" || module === "uv") {
    scene.run([module, ...after]);
    return HARMLESS;
  }
  if (module === "http.server") {
    return judged("medium", "serves the folder to the network", { network: true });
  }
  if (/^(timeit|pdb|cProfile|profile|trace|code|runpy)$/.test(module)) {
    return judgeCode(after.join("\n"), "python", scene);
  }
  return judged("medium", `runs the module ${module}`, { writes: true });
}

/** eval runs its words in the same shell. */
export const judgeEval: Judge = (args, scene) => {
  const text = args[0] === "--" ? args.slice(1).join(" ") : args.join(" ");
  if (/[^ \t\n]/.test(text)) scene.shell(text, { positional: "same", input: scene.input });
  return HARMLESS;
};

/** `source file` and `. file`. */
export const judgeSource: Judge = (args, scene) => {
  const [path] = args[0] === "--" ? args.slice(1) : args;
  return path === undefined ? HARMLESS : runFile(path, scene, "shell");
};

export const judgeTrap: Judge = (args, scene) => {
  const [text = "", ...signals] = args[0] === "--" ? args.slice(1) : args;
  if (signals.length > 0 && text !== "-" && text !== "" && !text.startsWith("-")) {
    scene.shell(text, { positional: "same" });
  }
  return HARMLESS;
};
