/** Reads a recorded session (denops/agent/engine/acp/export/recording.ts): what stands in the comments of its script. */

interface RecordedTurn {
  readonly prompt: string;
  /** The model's answers. */
  readonly script: string;
  /** To approvals, in order: "allow_once", "reject", … */
  readonly answers: readonly string[];
}

export interface RecordedSession {
  /** Name → text, as files were before the session. */
  readonly files: Readonly<Record<string, string>>;
  readonly turns: readonly RecordedTurn[];
  /** The last lines of answers that were followed by a nudge. */
  readonly nudged: readonly string[];
}

/** @throws {Error} one line, if it is no recording, or names a file outside of its project */
export function readRecording(text: string): RecordedSession {
  const files: Record<string, string> = {};
  const turns: { prompt: string; script: string; answers: string[] }[] = [];
  const notes = text.split(/^#@ /m).slice(1);
  for (const one of notes) {
    const [head = "", ...rest] = one.split("\n");
    const [kind, ...words] = head.split(" ");
    const body: string[] = [];
    for (const line of rest) {
      if (!line.startsWith("#|")) break;
      body.push(line.slice(3));
    }
    const name = words.join(" ");
    if (kind === "file") files[inside(name)] = body.join("\n");
    else if (kind === "prompt") turns.push({ prompt: body.join("\n"), script: "", answers: [] });
    const turn = turns.at(-1);
    if (turn === undefined) continue;
    turn.script += rest.slice(body.length).join("\n");
    if (kind === "answer") turn.answers.push(name);
  }
  if (turns.length === 0) throw new Error("This is no recording: it has no prompt.");
  const nudged = [...text.matchAll(/^say (.*)\n---\n#@ nudge$/gm)].map(([, line = ""]) => line);
  return { files, turns, nudged };
}

/**
 * Refuses what leads out of the folder, or into a git folder by any name that a file system takes for it: in another
 * case, with characters that it passes over, or by its short name.
 */
function inside(name: string): string {
  const parts = name.split(/[/\\]/).map((part) =>
    part.normalize("NFKC").replace(/[\p{Cf}\p{Mn}]|[. ]+$|:.*$/gu, "").toLowerCase()
  );
  // "." and ".." are empty by now.
  if (parts.some((part) => ["", ".git", "git~1"].includes(part))) {
    throw new Error(`The recording names a file outside of its project: ${JSON.stringify(name)}.`);
  }
  return name;
}
