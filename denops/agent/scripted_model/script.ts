/**
 * The script of the scripted model server: a readable text that says what the model answers.
 *
 * `---` parts the answers; each request to the model gets the next one. A line is a directive and
 * its argument, a line that begins with `#` is a comment, blank lines mean nothing.
 *
 * ```text
 * say I will look at the file first.
 * call read_file {"path": "src/greet.ts"}
 * ---
 * expect export function greet
 * say Done: **greet** is now `salute`.
 * ```
 *
 * Content, in order: `say TEXT`, `think TEXT` (lines that follow each other are one text),
 * `call NAME JSON` (the JSON may go on in lines indented by two spaces), `rawcall NAME TEXT`
 * (arguments as given, even broken), `flood N` (tokens "word17 "), `big BYTES` (a long text).
 *
 * The stream, from where they stand on: `pieces N` (characters in a piece of text or arguments;
 * else text comes in words), `split N` (bytes in a write), `slow MS` (pause before each piece),
 * `wait NAME` (hold until the test releases it), `garbage TEXT` (a line of raw bytes, with escapes
 * such as \xff), `error [TYPE_error] TEXT` (the provider's error in mid-stream), `cut` (the socket
 * is closed in the middle), `eof` (the body ends properly, the answer does not). Nothing can follow
 * the last three.
 *
 * The whole answer: `stop REASON` (or `stop =WORD`, as the wire itself would say it), `usage IN OUT [CACHED]`, `interleave` (arguments of calls that
 * follow each other come in turn), `nodone` (no mark of the end), `status CODE [NAME=VALUE ...]
 * [BODY]` and `html` (instead of a stream).
 *
 * The request: `expect TEXT` and `expect-not TEXT` (in what is new since the last answer),
 * `when TEXT` (only for a request whose newest user text has TEXT; goes before the order),
 * `repeat` (is never used up), `new-history` (earlier messages may differ).
 */

import {
  type Answer,
  endsAnswer,
  type Expectation,
  type Script,
  type ScriptedPart,
  STOP_REASONS,
} from "./answer.ts";
import {
  type Argument,
  compactObject,
  flag,
  integer,
  nameAndRest,
  needed,
  status,
  unescaped,
  usage,
  word,
  Wrong,
  wrong,
} from "./arguments.ts";

/** An invalid script; the message begins with `name:line:`. */
class ScriptError extends Error {
  override readonly name = "ScriptError";
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

interface Draft extends Mutable<Omit<Answer, "parts" | "expectations">> {
  readonly parts: ScriptedPart[];
  readonly expectations: Expectation[];
}

type Directive = (draft: Draft, argument: Argument) => void;

const directives: Readonly<Record<string, Directive>> = {
  "say": (draft, { text }) => addText(draft, "say", text),
  "think": (draft, { text }) => addText(draft, "think", text),
  "call": (draft, argument) => {
    const [name, rest] = nameAndRest(argument);
    draft.parts.push({ kind: "call", name, arguments: compactObject(rest) });
  },
  "rawcall": (draft, argument) => {
    const [name, rest] = nameAndRest(argument);
    draft.parts.push({ kind: "call", name, arguments: rest });
  },
  "stop": (draft, { text }) => {
    const own = /^=(\w.*)$/.exec(text)?.[1];
    draft.stop = own === undefined
      ? STOP_REASONS.find((reason) => reason === text) ?? wrong(`use one of ${STOP_REASONS.join(", ")}`)
      : `=${own}`;
  },
  "usage": (draft, { text }) => draft.usage = usage(text),
  "slow": (draft, { text }) => draft.parts.push({ kind: "slow", milliseconds: integer(text, 0) }),
  "wait": (draft, { text }) => draft.parts.push({ kind: "wait", name: word(text) }),
  "split": (draft, { text }) => draft.parts.push({ kind: "split", bytes: integer(text, 1) }),
  "pieces": (draft, { text }) => draft.parts.push({ kind: "pieces", characters: integer(text, 1) }),
  "interleave": (draft, { text }) => draft.interleave = flag(text),
  "flood": (draft, { text }) => draft.parts.push({ kind: "flood", tokens: integer(text, 1) }),
  "big": (draft, { text }) => draft.parts.push({ kind: "big", bytes: integer(text, 1) }),
  "garbage": (draft, { text }) => draft.parts.push({ kind: "garbage", bytes: unescaped(text) }),
  "cut": (draft, { text }) => flag(text) && draft.parts.push({ kind: "cut" }),
  "eof": (draft, { text }) => flag(text) && draft.parts.push({ kind: "eof" }),
  "error": (draft, { text }) => {
    const [, type, message] = /^(?:(\w+_error) )?(.*)$/.exec(needed(text)) ?? [];
    draft.parts.push({ kind: "error", type, message: message ?? "" });
  },
  "status": (draft, { text }) => draft.parts.push(status(text)),
  "html": (draft, { text }) => flag(text) && draft.parts.push({ kind: "html" }),
  "nodone": (draft, { text }) => draft.noDone = flag(text),
  "expect": (draft, { text, line }) => draft.expectations.push({ line, text: needed(text), wanted: true }),
  "expect-not": (draft, { text, line }) =>
    draft.expectations.push({ line, text: needed(text), wanted: false }),
  "when": (draft, { text }) => draft.when = needed(text),
  "repeat": (draft, { text }) => draft.repeat = flag(text),
  "new-history": (draft, { text }) => draft.newHistory = flag(text),
};

/**
 * Parses a script; `name` is only for messages, usually the file's path.
 *
 * @throws {ScriptError} for the first invalid directive, with its line
 */
export function parseScript(text: string, name = "script"): Script {
  const answers: Answer[] = [];
  const lines = text.split(/\r?\n/);
  let draft: Draft | undefined;
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at] ?? "";
    const number = at + 1;
    if (line.trim() === "" || line.startsWith("#")) continue;
    if (line.trimEnd() === "---") {
      if (draft === undefined) throw failure(name, number, line, "no answer comes before it");
      answers.push(draft);
      draft = undefined;
      continue;
    }
    const more: string[] = [];
    while (/^ {2,}\S/.test(lines[at + 1] ?? "")) more.push((lines[++at] ?? "").trim());
    draft ??= emptyDraft(number);
    try {
      run(draft, line, number, more);
    } catch (error) {
      if (error instanceof Wrong) throw failure(name, number, line, error.message);
      throw error;
    }
  }
  if (draft !== undefined) answers.push(draft);
  checkRepeats(answers, name);
  return { name, answers };
}

function run(draft: Draft, line: string, number: number, more: readonly string[]): void {
  const space = line.search(/\s|$/);
  const directive = line.slice(0, space);
  const apply = Object.hasOwn(directives, directive) ? directives[directive] : undefined;
  if (directive === "") wrong("an indented line belongs below a call");
  if (apply === undefined) wrong(`"${directive}" is no directive. Try ${Object.keys(directives).join(", ")}`);
  if (more.length > 0 && directive !== "call" && directive !== "rawcall") {
    wrong("only the arguments of a call may go on in indented lines");
  }
  const before = draft.parts.length;
  apply(draft, { line: number, text: line.slice(space + 1), more });
  if (draft.parts.length > before) checkEnding(draft.parts, before);
}

function checkEnding(parts: readonly ScriptedPart[], before: number): void {
  const ending = parts.slice(0, before).find(endsAnswer);
  if (ending !== undefined) wrong(`nothing can follow ${ending.kind}`);
  const added = parts[before];
  if (added?.kind !== "status" && added?.kind !== "html") return;
  const other = parts.slice(0, before).find((part) => part.kind !== "wait");
  if (other !== undefined) {
    wrong(`${added.kind} stands instead of a stream, only wait may precede it`);
  }
}

function checkRepeats(answers: readonly Answer[], name: string): void {
  const inOrder = answers.filter((answer) => answer.when === undefined);
  const early = inOrder.slice(0, -1).find((answer) => answer.repeat);
  if (early === undefined) return;
  throw failure(
    name,
    early.line,
    "repeat",
    "only the last answer, or one with `when`, can be reused for ever",
  );
}

function failure(name: string, line: number, source: string, reason: string): ScriptError {
  return new ScriptError(`${name}:${line}: Cannot read "${source.trim()}": ${reason}.`);
}

function emptyDraft(line: number): Draft {
  return {
    line,
    parts: [],
    expectations: [],
    stop: undefined,
    usage: undefined,
    when: undefined,
    interleave: false,
    noDone: false,
    repeat: false,
    newHistory: false,
  };
}

/** Adjacent lines are one text; after a pause or the like, the next line begins with the newline. */
function addText(draft: Draft, kind: "say" | "think", text: string): void {
  const content = draft.parts.findLast((part) => part.kind !== "garbage" && !isControl(part));
  const last = draft.parts.at(-1);
  const goesOn = content?.kind === kind ||
    (kind === "say" && (content?.kind === "flood" || content?.kind === "big"));
  if (last?.kind === kind) draft.parts[draft.parts.length - 1] = { kind, text: `${last.text}\n${text}` };
  else draft.parts.push({ kind, text: goesOn ? `\n${text}` : text });
}

function isControl(part: ScriptedPart): boolean {
  return part.kind === "slow" || part.kind === "wait" || part.kind === "split" || part.kind === "pieces";
}
