/** Code in other languages than the shell's: what it seems to do, by what it names. Pure. */
import { judgeDelete } from "./places.ts";
import type { Scene } from "./scene.ts";
import { judged, type Judgement, type Severity, worst } from "./severity.ts";

interface Sign {
  readonly pattern: RegExp;
  readonly severity: Severity;
  readonly reason: string;
  readonly network?: true;
}

/** Starting programs is looked for first: what is started is then judged too. */
const STARTS =
  /\bos\s*\.\s*(system|replace|popen|exec\w*|spawn\w*|posix_spawn\w*|fork|kill)\b|\bsubprocess\b|\bpty\b|\bcommands\.getoutput|\bpopen|\bPopen|child_process|\b(exec|spawn|execFile|fork)(Sync)?\s*\(|\bDeno\s*\.\s*(run|Command)\b|\bBun\s*\.\s*(spawn|\$)|\b(system|exec|qx|spawn|fork|syscall|shell_exec|passthru|proc_open|pcntl_exec|do shell script|io\.popen|os\.execute|Runtime|ProcessBuilder|Open3|Process\.(spawn|kill|daemon)|Kernel|System\.cmd|os:cmd|shell!?)\b|%x\W|\bexec\b/;
const DELETES =
  /\b(unlink\w*|rmdir\w*|rmtree|removedirs|remove(_tree|Sync|_dir_all|_file)?|rm(Sync|_rf|_r|_f)?|delete(File|Tree|_file)?|shutil|FileUtils|truncate\w*|rename\w*|ch(mod|own)\w*)\b/;

const SIGNS: readonly Sign[] = [
  { pattern: STARTS, severity: "high", reason: "runs code that starts programs" },
  { pattern: DELETES, severity: "high", reason: "runs code that deletes or moves files" },
  {
    pattern:
      /\bopen\s*\([^)]{0,200},\s*(mode\s*=\s*)?["'][rbt]*[wax+]|\bopen\b[^;]{0,200}["']\s*(\+?>|\|)|\.(write(_text|_bytes|File(Sync)?|TextFile(Sync)?)|touch|mkdir|symlink_to|hardlink_to)\s*\(|\b(writeFile|appendFile|createWriteStream|copyFile|file_put_contents|fopen|File\.(write|open|new|rename)|IO\.write|write_all|cp(Sync)?|copy(tree|2)?)\b/,
    severity: "high",
    reason: "runs code that writes files",
  },
  {
    pattern:
      /\b(eval|exec|(?<!\bre\.)compile|__import__|importlib|getattr|setattr|globals|builtins|__\w+__|ctypes|ffi|cffi|Function|atob|fromCharCode|b64decode|base64|unhexlify|fromhex|codecs|pickle|marshal|unserialize|instance_eval|class_eval|const_get|loadstring|dofile|require\s*\(\s*[^"'\s)]|import\s*\(\s*[^"'\s)]|assert\s*\(\s*\$)\b|\\x[0-9a-f]{2}|\\u[0-9a-f]{4}|\bchr\s*\(|\bpack\s*\(/i,
    severity: "high",
    reason: "runs code that hides what it does",
  },
  {
    pattern:
      /\b(socket|urllib\w*|requests|httpx|aiohttp|http\.client|ftplib|smtplib|telnetlib|paramiko|fetch|XMLHttpRequest|WebSocket|https?\.(get|request)|net\.(connect|Socket|createConnection)|dgram|axios|Net::|LWP|IO::Socket|open-uri|TCPSocket|UDPSocket|URI\.open|curl_\w+|fsockopen|HTTP::|Deno\.(connect|listen)|serve)\b|https?:\/\//,
    severity: "high",
    reason: "runs code that uses the network",
    network: true,
  },
  {
    pattern:
      /\b(environ|getenv|process\.env|ENV\[|Deno\.env|getpass|keyring|id_rsa|\.ssh|\.env|\.netrc|shadow)\b/,
    severity: "high",
    reason: "runs code that reads what may be secret",
  },
  {
    pattern: /\/dev\/(sd|hd|nvme|vd|mem|disk)/,
    severity: "critical",
    reason: "runs code that names a device",
  },
];

/** Backticks run commands in these, and are ordinary strings in others. */
const BACKTICKS = /^(perl|ruby|php|irb|julia|raku|crystal)/;

const LONGEST = 20_000;
/** More strings than these are not looked into one by one. */
const MOST_STRINGS = 24;

/** @param language the interpreter's name */
export function judgeCode(whole: string, language: string, scene: Scene): Judgement {
  const code = whole.slice(0, LONGEST);
  const found: Judgement[] = [judged("medium", `runs ${language} code`, { writes: true })];
  if (whole.length > LONGEST) {
    found.push(judged("high", "runs more code than is looked at", { writes: true }));
  }
  for (const { pattern, severity, reason, network } of SIGNS) {
    if (pattern.test(code)) found.push(judged(severity, reason, { network: network ?? false, writes: true }));
  }
  const ticks = BACKTICKS.test(language) && code.includes("`");
  if (ticks) found.push(judged("high", "runs code that starts programs", { writes: true }));
  const strings = stringsOf(code);
  if ((ticks || STARTS.test(code)) && strings.some((text) => scene.suppose(text) === "critical")) {
    found.push(judged("critical", "runs code that starts a destructive command", { writes: true }));
  }
  if (DELETES.test(code)) {
    for (const text of strings) {
      if (
        judgeDelete(text, true, scene.folders, scene.places).severity === "critical" && /^[~/.]/.test(text)
      ) {
        found.push(judged("critical", `runs code that deletes ${text}`, { writes: true }));
      }
    }
  }
  return worst(...found);
}

/** The string literals, and lists of them joined: `["rm", "-rf", "/"]` is a command too. */
function stringsOf(code: string): readonly string[] {
  const literals = [...code.matchAll(/"((?:[^"\\\n]|\\.)*)"|'((?:[^'\\\n]|\\.)*)'|`([^`]*)`/g)];
  const found: string[] = [];
  let joined = "";
  let end = -1;
  for (const literal of literals.slice(0, 200)) {
    const text = literal[1] ?? literal[2] ?? literal[3] ?? "";
    const between = code.slice(end, literal.index);
    // Adjoining literals are arguments of one call or parts of one text.
    if (end >= 0 && /^[\s,+.()\[\]]*$/.test(between)) {
      joined += between.includes("+") || between.includes(".") ? text : ` ${text}`;
    } else {
      if (joined !== "") found.push(joined);
      joined = text;
    }
    found.push(text);
    end = literal.index + literal[0].length;
  }
  if (joined !== "") found.push(joined);
  const calls = [...code.matchAll(/(?:%x|qx|%w|q|qq)?[({\[|!\/]([^)}\]|!]{2,200})[)}\]|!\/]/g)];
  for (const call of calls.slice(0, MOST_STRINGS)) {
    if (/\brm\b|\bmkfs|\bdd\b/.test(call[1] ?? "")) found.push(call[1] ?? "");
  }
  return [...new Set(found)].filter((text) => text.length > 0 && text.length < 2_000).slice(
    0,
    MOST_STRINGS * 2,
  );
}
