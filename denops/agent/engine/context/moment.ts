/** Current facts that accompany the user's message. A fact is sent again only after it changed. Pure. */
import { createTwoFilesPatch } from "../../deps/diff.ts";
import type { Shown, Surroundings } from "../../protocol/surroundings.ts";
import { contextText, type Project } from "./project.ts";
import { type SkillChange, skillNews } from "./skills.ts";
import type { Plan } from "../log/events.ts";
import { countsOf, lineDiff } from "../log/line_diff.ts";
import { plural } from "../../shared/text/text.ts";

/** A change that somebody else made to a file since the model last had its text. */
export interface Edit {
  readonly path: string;
  /** Undefined: unknown. */
  readonly before: string | undefined;
  /** Undefined: the file is gone. */
  readonly after: string | undefined;
}

interface Moment {
  readonly git: Surroundings["git"];
  readonly view: Shown | undefined;
  /** YYYY-MM-DD */
  readonly date: string;
  readonly plan: Plan;
  /** Notes about messages that are no longer sent, as one line. */
  readonly notes: string | undefined;
  /** Undefined: unknown. */
  readonly skills?: SkillChange | undefined;
}

type GitStatus = NonNullable<NonNullable<Surroundings["git"]>["status"]>;

/** Name → one line. */
type Facts = ReadonlyMap<string, string>;

/** Changed files that are named. */
const MOST_EDITS = 20;
/** Characters of a complete diff, and of all. */
const MOST_DIFF = 2_000;
const MOST_DIFFS = 6_000;
/** Slower diffs are left out. */
const LONGEST_MS = 200;

/** A fact holds until another one replaces it, so its end is sent too. */
const GIT_GONE = {
  branch: "Git: branch unknown now",
  status: "Git: uncommitted files unknown now",
};
const SHOWN_GONE = {
  current: "The user looks at no file of the project",
  buffers: "No other file is open",
  terminal: "The user sees no terminal",
};

const SKILLS_GONE = { skills: "The skills are those at the beginning again" };

/** @param lastFacts the facts that the model has */
export function factsOf(moment: Moment, lastFacts: Facts): Facts {
  const facts = knownFacts(moment);
  const gone = {
    ...GIT_GONE,
    ...(moment.view === undefined ? {} : SHOWN_GONE),
    ...(moment.skills === undefined ? {} : SKILLS_GONE),
  };
  const ended = Object.entries(gone).filter(([name]) => lastFacts.has(name) && !facts.has(name));
  return new Map([...facts, ...ended]);
}

function knownFacts({ date, git, view, plan, notes, skills }: Moment): Map<string, string> {
  const facts = new Map([["date", `Date: ${date}`]]);
  if (git !== undefined) {
    const { branch, status } = git;
    facts.set("branch", branch === undefined ? "Git: no branch" : `Git: branch ${branch}`);
    if (status !== undefined) facts.set("status", `Git: ${statusText(status)}`);
  }
  if (view !== undefined) {
    const { current, buffers, errors, warnings, terminal } = view;
    const mark = ({ path, modified }: { readonly path: string; readonly modified: boolean }) =>
      modified ? `${path} (unsaved)` : path;
    if (current !== undefined) {
      facts.set(
        "current",
        `The user looks at ${mark({ ...current, path: `${current.path}:${current.line}` })}`,
      );
    }
    const others = buffers.filter(({ path }) => path !== current?.path);
    if (others.length > 0) facts.set("buffers", `Open too: ${others.map(mark).join(", ")}`);
    if (errors !== undefined && warnings !== undefined) {
      facts.set(
        "diagnostics",
        `Diagnostics of open files: ${plural(errors, "error")}, ${plural(warnings, "warning")}`,
      );
    }
    if (terminal !== undefined) {
      // Output of programs is data, so each line is marked.
      const lines = terminal.text.split("\n").map((line) => `| ${line}`.trimEnd());
      facts.set("terminal", [`The end of the user's terminal (${terminal.command}):`, ...lines].join("\n"));
    }
  }
  const open = plan.filter(({ status }) => status !== "completed").map(({ step }) => step);
  if (open.length > 0) facts.set("plan", `Open steps of your plan: ${open.join("; ")}`);
  if (notes !== undefined) facts.set("notes", notes);
  const changedSkills = skills && skillNews(skills);
  if (changedSkills !== undefined) facts.set("skills", changedSkills);
  return facts;
}

function statusText({ upstream, changed, more }: GitStatus): string {
  const files = changed.length === 0 ? "nothing uncommitted" : `uncommitted: ${list(changed, more)}`;
  if (upstream === undefined) return files;
  const { name, ahead, behind } = upstream;
  return [
    ...(ahead > 0 ? [`${ahead} ahead of ${name}`] : []),
    ...(behind > 0 ? [`${behind} behind ${name}`] : []),
    files,
  ].join("; ");
}

function list(names: readonly string[], more: number): string {
  return names.join(", ") + (more > 0 ? ` and ${more} more` : "");
}

const READ_AGAIN = "read it again before you use it";

/** An edit as one line, with its diff below. */
interface ToldEdit {
  readonly edit: Edit;
  readonly text: string;
  /** The model knows the new text from it. */
  readonly whole: boolean;
}

/** The smallest diffs are complete, as long as they fit. */
export function toldEdits(edits: readonly Edit[]): readonly ToldEdit[] {
  let room = MOST_DIFFS;
  return edits.slice(0, MOST_EDITS).map((edit): ToldEdit => {
    const { path, before, after } = edit;
    if (after === undefined) return { edit, text: `${path}: deleted`, whole: false };
    if (before === undefined) return { edit, text: `${path}: ${READ_AGAIN}`, whole: false };
    const line = `${path} ${countsOf(lineDiff(path, before, after))}`;
    const diff = diffText(before, after);
    const whole = diff !== undefined && diff.length <= Math.min(MOST_DIFF, room);
    if (!whole) return { edit, text: `${line}: ${READ_AGAIN}`, whole };
    room -= diff.length;
    return { edit, text: `${line}\n${diff}`, whole };
  });
}

/** Hunks without their header. */
function diffText(before: string, after: string): string | undefined {
  const patch = createTwoFilesPatch("a", "b", before, after, undefined, undefined, {
    context: 2,
    timeout: LONGEST_MS,
  });
  return patch?.slice(patch.indexOf("@@")).trimEnd();
}

/** @param lastFacts the facts that the model has @returns undefined without news */
export function momentText(
  facts: Facts,
  lastFacts: Facts,
  edits: readonly ToldEdit[],
  left: number,
  project: Pick<Project, "mark">,
): string | undefined {
  const lines = [...facts].filter(([name, text]) => lastFacts.get(name) !== text).map(([, text]) => text);
  if (edits.length > 0) {
    lines.push("Changed since your last answer, not by you:", ...edits.map(({ text }) => text));
    if (left > 0) lines.push(`[${left} more files]`);
  }
  return lines.length === 0 ? undefined : contextText(lines.join("\n"), project);
}
