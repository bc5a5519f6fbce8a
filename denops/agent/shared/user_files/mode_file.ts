/**
 * A mode that a Markdown file describes, as Claude Code's and opencode's agents are written. Pure.
 * Sources: code.claude.com/docs/en/sub-agents (name, description, tools, disallowedTools, model), opencode.ai/docs/agents
 * (description, tools as a map, model as provider/model, mode: primary, subagent or all).
 */
import { FrontMatter } from "../front_matter.ts";
import { MODE_FACTS, type ModeName, OwnMode } from "../../protocol/modes.ts";

/** Characters of what a mode adds to the prompt. */
const MOST_TEXT = 16_000;
const LONGEST_DESCRIPTION = 200;

/** What a file is based on that names no base: it changes nothing. */
const BASE: ModeName = "ask";

/** opencode's word for where an agent may be used. */
const NO_BASE = ["primary", "subagent", "all"];

/** Names that others have for tools → the kind that they are of here. */
const OTHERS: ReadonlyMap<string, string> = new Map(Object.entries({
  ...{ write: "edit", multiedit: "edit", notebookedit: "edit", patch: "edit", apply_patch: "edit" },
  ...{ bash: "execute", grep: "search", glob: "search", ls: "read", list: "read" },
  ...{ webfetch: "fetch", websearch: "fetch", todowrite: "think", todoread: "think" },
}));

/** Names that agents elsewhere have for the model of whoever starts them. */
const NO_MODEL = ["inherit", "sonnet", "opus", "haiku", "fable"];

/**
 * @param name the file's, without its end
 * @param known models that the user knows; a file that is not the user's own may name one of these alone
 * @throws {Error} one line: what is wrong with it
 */
export function readModeFile(
  text: string,
  name: string,
  { known, isUsers }: { readonly known: readonly string[]; readonly isUsers: boolean },
): OwnMode {
  const matter = FrontMatter.of(text);
  if (matter === undefined) throw new Error("it does not begin with settings between two lines of ---");
  const named = (matter.text("name") ?? name).toLowerCase();
  if (!OwnMode.shape.name.safeParse(named).success) {
    throw new Error("its name must be letters, digits and hyphens, 40 at most");
  }
  if (MODE_FACTS.some((one) => one.name === named)) {
    throw new Error(`${named} is the name of a built-in mode`);
  }
  const base = baseOf(matter.text("mode"));
  const tools = toolsIn(matter);
  const model = modelOf(matter.text("model"), known, isUsers);
  return {
    name: named,
    description: (matter.text("description") ?? "").replace(/\s+/g, " ").slice(0, LONGEST_DESCRIPTION),
    access: base.access,
    base: base.name,
    ...(tools === undefined ? {} : { tools }),
    ...(model === undefined ? {} : { model }),
    text: matter.body.slice(0, MOST_TEXT),
  };
}

function baseOf(wanted: string | undefined): (typeof MODE_FACTS)[number] {
  const name = wanted === undefined || NO_BASE.includes(wanted) ? BASE : wanted;
  const found = MODE_FACTS.find((one) => one.name === name && one.name !== "auto");
  if (found === undefined) throw new Error(`mode: ${name} is not a mode to base another on`);
  return found;
}

/** Kinds and names; those behind "!" are left out. */
function toolsIn(matter: FrontMatter): string[] | undefined {
  const switches = matter.switches("tools");
  const wanted = switches === undefined ? matter.list("tools") : undefined;
  const off = [
    ...switches?.flatMap(([name, on]) => on ? [] : [name]) ?? [],
    ...matter.list("disallowedTools") ?? [],
  ];
  if (wanted === undefined && off.length === 0) return undefined;
  const isAll = wanted?.includes("*") ?? true;
  return [...isAll ? [] : (wanted ?? []).map(ourName), ...off.map((name) => `!${ourName(name)}`)];
}

/** "Bash(git log:*)" is Bash: what a command may do is judged when it runs. */
function ourName(name: string): string {
  const plain = name.replace(/\(.*$/, "").trim().toLowerCase();
  return OTHERS.get(plain) ?? plain;
}

function modelOf(wanted: string | undefined, known: readonly string[], isUsers: boolean): string | undefined {
  if (wanted === undefined || NO_MODEL.includes(wanted.toLowerCase())) return undefined;
  const bare = wanted.slice(wanted.indexOf("/") + 1);
  return [wanted, bare].find((name) => known.includes(name)) ?? (isUsers ? wanted : undefined);
}
