/**
 * Parses a mode from a Markdown file in the format of Claude Code's and opencode's agents. Pure. Sources:
 * code.claude.com/docs/en/sub-agents (name, description, tools, disallowedTools, model),
 * opencode.ai/docs/agents (description, tools as a map, model as provider/model, mode: primary, subagent or
 * all).
 */
import { FrontMatter } from "../front_matter.ts";
import { MODE_FACTS, type ModeName, OwnMode } from "../../protocol/modes.ts";

/** Characters that a mode can add to the prompt. */
const MOST_TEXT = 16_000;
const LONGEST_DESCRIPTION = 200;

/** The default base, which is read-only. */
const BASE: ModeName = "ask";

/** In opencode these say where an agent can be used. */
const NO_BASE = ["primary", "subagent", "all"];

/** Other programs' names of tools → our kind. */
const OTHERS: ReadonlyMap<string, string> = new Map(Object.entries({
  ...{ write: "edit", multiedit: "edit", notebookedit: "edit", patch: "edit", apply_patch: "edit" },
  ...{ bash: "execute", grep: "search", glob: "search", ls: "read", list: "read" },
  ...{ webfetch: "fetch", websearch: "fetch", todowrite: "think", todoread: "think" },
}));

/** Other agents' names for the parent's model. */
const NO_MODEL = ["inherit", "sonnet", "opus", "haiku", "fable"];

/**
 * @param name the file's name without its extension
 * @param known models that the user configured; a project's file can only name one of these
 * @throws {Error} one line: the problem
 */
export function readModeFile(
  text: string,
  name: string,
  { known, isUsers }: { readonly known: readonly string[]; readonly isUsers: boolean },
): OwnMode {
  const matter = FrontMatter.of(text);
  if (matter === undefined) throw new Error("it does not begin with settings between two lines of ---");
  const modeName = (matter.text("name") ?? name).toLowerCase();
  if (!OwnMode.shape.name.safeParse(modeName).success) {
    throw new Error("its name must be letters, digits and hyphens, 40 at most");
  }
  if (MODE_FACTS.some((one) => one.name === modeName)) {
    throw new Error(`${modeName} is the name of a built-in mode`);
  }
  const base = baseOf(matter.text("mode"));
  const tools = toolsIn(matter);
  const model = modelOf(matter.text("model"), known, isUsers);
  return {
    name: modeName,
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

/** Kinds and names; "!" excludes one. Empty: no tools. */
function toolsIn(matter: FrontMatter): string[] | undefined {
  if (["[]", "none"].includes(matter.text("tools")?.toLowerCase() ?? "")) return [];
  const switches = matter.switches("tools");
  const wanted = switches === undefined ? matter.list("tools") : undefined;
  const off = [
    ...switches?.flatMap(([name, on]) => on ? [] : [name]) ?? [],
    ...matter.list("disallowedTools") ?? [],
  ];
  const isAll = wanted === undefined || wanted.length === 0 || wanted.includes("*");
  if (isAll && off.length === 0) return undefined;
  return [...isAll ? [] : (wanted ?? []).map(ourName), ...off.map((name) => `!${ourName(name)}`)];
}

/** "Bash(git log:*)" is Bash: commands are judged when they run. */
function ourName(name: string): string {
  const plain = name.replace(/\(.*$/, "").trim().toLowerCase();
  return OTHERS.get(plain) ?? plain;
}

function modelOf(wanted: string | undefined, known: readonly string[], isUsers: boolean): string | undefined {
  if (wanted === undefined || NO_MODEL.includes(wanted.toLowerCase())) return undefined;
  const bare = wanted.slice(wanted.indexOf("/") + 1);
  return [wanted, bare].find((name) => known.includes(name)) ?? (isUsers ? wanted : undefined);
}
