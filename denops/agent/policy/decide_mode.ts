/**
 * Enforces modes, regardless of rules and approvals: a read-only mode runs nothing that could change files.
 * Both engine and gate check it. Pure.
 */
import type { Access, AccessOf } from "../protocol/access.ts";
import { TOOL_SETS, type TurnLimits } from "../protocol/modes.ts";
import { type FileDecision, type NamedPath, namesOf } from "./file_access.ts";
import { matchesGlob } from "./glob.ts";

const DOCS = ["docs/**/*", "**/*.md"] as const;

/** Undefined: the mode does not object. */
export function againstMode(access: Access, limits: TurnLimits): FileDecision | undefined {
  return againstAccess(access, limits.access) ?? againstToolSet(access, limits.toolSet);
}

/** Sets contain only tools that access files. */
function againstToolSet(access: Access, set: TurnLimits["toolSet"]): FileDecision | undefined {
  if (set === undefined) return undefined;
  switch (access.kind) {
    case "file":
    case "ask":
    case "nothing":
    // The changes of a command from an earlier turn.
    case "effects":
      return undefined;
    case "command":
    case "agent":
    case "fetch":
    case "search_web":
    case "mcp":
    case "foreign":
      return denied(`this turn ${TOOL_SETS[set].does}`);
    default:
      access satisfies never;
      return denied("it asks for an access of an unknown kind");
  }
}

function againstAccess(access: Access, mode: TurnLimits["access"]): FileDecision | undefined {
  if (mode === "write") return undefined;
  switch (access.kind) {
    case "file":
      return againstFiles(access.files, mode);
    // Changes of its commands are denied at the end, as effects.
    case "foreign":
      return againstFiles(access.files ?? [], mode);
    case "command":
      return access.access === "look" ? undefined : denied("this mode runs commands with access look only");
    case "effects":
      return denied("this mode changes no files");
    case "mcp":
      return denied("nobody knows what this tool would change, and this mode changes nothing");
    case "ask":
      return access.about === "server" ? denied("this mode starts no language server") : undefined;
    // A started agent is bound to the mode of its parent.
    case "agent":
    case "fetch":
    case "search_web":
    case "nothing":
      return undefined;
    default:
      access satisfies never;
      return denied("it asks for an access of an unknown kind");
  }
}

function againstFiles(
  files: AccessOf<"file">["files"],
  mode: Exclude<TurnLimits["access"], "write">,
): FileDecision | undefined {
  const written = files.filter((file) => file.access === "write").map(({ path }) => path);
  if (mode === "docs") {
    const other = written.find((path) => !isDocs(path));
    return other && denied(`this mode writes docs/ and Markdown files only, not ${other.named}`);
  }
  return written.length === 0 ? undefined : denied("this mode changes no files");
}

/** Files of programs in hidden folders are not documentation. */
function isDocs(path: NamedPath): boolean {
  return namesOf(path).every((name) =>
    DOCS.some((glob) => matchesGlob(glob, name)) && !name.split("/").some((part) => part.startsWith("."))
  );
}

function denied(reason: string): FileDecision {
  return { verdict: "deny", rule: "mode", reason };
}
