/** Judges the text that is passed to shells, interpreters, sed and awk. */
import { has, readArguments } from "../../shared/getopt.ts";
import { judgeDelete, judgeWrite, UNKNOWN } from "./places.ts";
import type { Judge, Scene } from "./scene.ts";
import { judgeAs, type Judgement, READS, when, worst } from "./severity.ts";

/** Text from the input: known text is judged, unknown text is recorded. */
function fromInput(scene: Scene, judge: (text: string) => Judgement): Judgement {
  const { input } = scene;
  if (input.kind === "text") return judge(input.text);
  if (input.kind === "nothing") return judgeAs("medium", "starts an interpreter");
  scene.note("runs unknown text");
  return judgeAs("high", "runs its input");
}

export const judgeShell: Judge = (args, scene, name) => {
  if (/^(fish|csh|tcsh)$/.test(name)) return judgeAs("high", "runs another shell's language");
  // "+x" turns off what "-x" turns on.
  const options = args.map((arg) => arg.replace(/^\+(?=[a-zA-Z]+$)/, "-"));
  const invocation = readArguments(options, "-o -O --rcfile --init-file", "operand");
  const [first, ...rest] = invocation.operands;
  if (has(invocation, "-c")) {
    if (first === undefined) return judgeAs("medium", "starts a shell");
    if (first === UNKNOWN) scene.note("runs unknown text");
    // $0, $1 and "$@" are the words after the text.
    const filled = first.replace(
      /"?\$(?:\{?([0-9@*])\}?)"?/g,
      (whole, name: string) => /[@*]/.test(name) ? rest.slice(1).join(" ") : rest[Number(name)] ?? whole,
    );
    scene.shell(rest.length === 0 ? first : filled, scene.input);
    return READS;
  }
  if (first === undefined || has(invocation, "-s") || first === "/dev/stdin") {
    {
      return fromInput(scene, (text) => {
        scene.shell(text);
        return READS;
      });
    }
  }
  return runFile(first, scene);
};

const judgeEval: Judge = (args, scene, name) => {
  const text = args.slice(0, name === "trap" ? 1 : undefined).join(" ");
  if (text !== "" && text !== "-") scene.shell(text);
  return READS;
};

const judgeSource: Judge = ([path = UNKNOWN], scene) => runFile(path, scene);

function runFile(path: string, scene: Scene): Judgement {
  if (!path.includes(UNKNOWN)) return scene.runs(path);
  scene.note("runs unknown text");
  return judgeAs("high", "runs a file known only at run time");
}

/** The options with code, for each interpreter. */
const INTERPRETERS: readonly (readonly [RegExp, RegExp])[] = [
  [/^(python[\d.]*|pypy3?)$/, /^-[a-zA-Z]*c$/],
  [/^(node|nodejs|bun|tsx|ts-node)$/, /^(-[ep]+|--eval|--print)$/],
  [/^deno$/, /^eval$/],
  [/^(perl|ruby|lua|luajit|Rscript|julia|osascript|groovy|scala|elixir|erl)$/, /^(-[a-zA-Z]*[eE]|--eval)$/],
  [/^php$/, /^-r$/],
];

export function interpreterOf(name: string): RegExp | undefined {
  return INTERPRETERS.find(([names]) => names.test(name))?.[1];
}

export const judgeInterpreter: Judge = (args, scene, name) => {
  const codes = interpreterOf(name) ?? /^-e$/;
  const module = (arg: string) => arg === "-m" && /^(python|pypy)/.test(name);
  const at = args.findIndex((arg) => codes.test(arg) || module(arg) || !/^-|^run$/.test(arg));
  const [first, next = "", ...rest] = at < 0 ? [] : args.slice(at);
  if (first === undefined) return fromInput(scene, (text) => judgeCode(text, scene));
  if (codes.test(first)) return judgeCode(next, scene);
  if (/^https?:/.test(first)) return judgeAs("high", "runs what it downloads", "write", true);
  if (!module(first)) return runFile(first, scene);
  if (/^(http\.server|venv|ensurepip)$/.test(next)) return judgeAs("medium", `runs ${next}`);
  if (next !== "json.tool") scene.run([next, ...rest], scene.input);
  return READS;
};

const DELETES =
  /\b(?:rmtree|rmSync|rm_rf|rm_r|removeSync|rimraf|rmdirSync|removedirs|remove_tree)\s*\(?\s*(['"])(.*?)\1/g;
const REMOVES =
  /\b(os\.(remove|unlink|rmdir)|unlink|unlinkSync|rmtree|rmSync|rmdirSync|File\.delete|FileUtils\.rm\w*|Deno\.remove\w*)\b/;
const WRITES =
  /(?<!std(?:out|err)\.)\b(write|writeFile\w*|write_text|dump|save|rename|mkdir|makedirs|copy\w*|system|exec\w*|spawn\w*|popen|Popen|subprocess)\b|open\([^)]*['"][wax+]/;
const CONNECTS = /https?:|\b(urllib|urlopen|requests|fetch|socket|httpx|aiohttp|Net::HTTP|LWP)\b/;

/** Code in any language: its string literals may be commands, and some names are revealing. */
function judgeCode(code: string, scene: Scene): Judgement {
  const level = WRITES.test(code) || REMOVES.test(code) ? "write" : "look";
  const found = [judgeAs("medium", "runs code", level, CONNECTS.test(code))];
  if (code.includes(UNKNOWN)) {
    scene.note("runs unknown text");
    found.push(judgeAs("high", "runs code known only at run time"));
  }
  for (const [, , path = ""] of code.matchAll(DELETES)) found.push(judgeDelete(path, true, scene));
  const texts = [...code.matchAll(/(['"`])((?:(?!\1)[^\\]|\\.)*)\1/gs)].slice(0, 12).map(([, , text = ""]) =>
    text
  );
  const words = texts.findIndex((text) => /^(rm|sh|bash|dd|mkfs|sudo)$/.test(text));
  const commands = [...texts.filter((text) => /\s/.test(text)), ...(words < 0 ? [] : [texts.slice(words)])];
  if (commands.some((one) => scene.suppose(one) === "critical")) {
    found.push(judgeAs("critical", "holds a destructive command"));
  }
  if (REMOVES.test(code)) found.push(judgeAs("high", "runs code that deletes files"));
  return worst(...found);
}

/** Scripts of sed and awk that write a file or start a program. */
const WRITES_FILE = /(?:^|[;{}\n]|[\d$/])\s*[wW]\s+(\S+)|\bprintf?\b[^;}\n]*?>\s*(?:"([^"]*)"|[$(a-z])/g;
const STARTS =
  /(?:^|[;{}\n]|[\d$])\s*e\b\s*(?<text>.*)|\bsystem\s*\(|\|\s*(getline|"|&)|\bprint[^;}\n]*\|\s*[$\w(]|"\s*\|/;
const WRITE_FLAG = /[gpiIme\d]*w\s+(\S+)/y;
const START_FLAG = /[gpiImw\d]*e/y;

/** Characters; longer scripts are not analysed. */
const LONGEST_SCRIPT = 2_000;

/**
 * The substitutions of sed, `s/a/b/flags`, with this flag. Any two separators may end the first two parts,
 * which errs on the safe side.
 */
function substitutions(script: string, flag: RegExp): readonly RegExpExecArray[] {
  const found: RegExpExecArray[] = [];
  for (const line of script.split("\n")) {
    for (const { index, 1: separator = "" } of line.matchAll(/\bs(\W)/g)) {
      const second = line.indexOf(separator, index + 2);
      let at = second < 0 ? -1 : line.indexOf(separator, second + 1);
      for (; at >= 0; at = line.indexOf(separator, at + 1)) {
        flag.lastIndex = at + 1;
        const match = flag.exec(line);
        if (match !== null) found.push(match);
      }
    }
  }
  return found;
}

const judgeScript: Judge = (args, scene) => {
  if (args.some((arg) => /^-[a-zA-Z]*i|^--in-p/.test(arg))) {
    return judgeAs("medium", "changes files in place");
  }
  const script = args.filter((arg) => !/^-[^-]?$/.test(arg)).join("\n");
  if (script.length > LONGEST_SCRIPT) return judgeAs("high", "is a script too long to be looked at");
  const started = STARTS.exec(script) ?? substitutions(script, START_FLAG)[0] ?? null;
  const text = started?.groups?.["text"];
  if (text !== undefined) scene.shell(text);
  return worst(
    READS,
    ...[...script.matchAll(WRITES_FILE), ...substitutions(script, WRITE_FLAG)].map((found) =>
      judgeWrite(found[1] ?? found[2] ?? UNKNOWN, scene)
    ),
    ...when(
      started !== null,
      judgeAs("medium", "starts a program", "look"),
      { ...judgeCode(script, scene), level: "look" },
    ),
  );
};

const SHELL_NAMES = "sh bash zsh dash ksh ash mksh fish csh tcsh";

/** Programs with the judge of their text. */
export const SHELLS: readonly (readonly [names: string, judge: Judge])[] = [
  ["sed gsed awk gawk mawk nawk", judgeScript],
  ["eval trap", judgeEval],
  ["source .", judgeSource],
  [SHELL_NAMES, judgeShell],
];

export function isShell(name: string): boolean {
  return SHELL_NAMES.split(" ").includes(name);
}
