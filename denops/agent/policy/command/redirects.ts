/** Redirections and assignments: what a command does before it even starts. Pure. */
import type { Assignment, Redirection } from "unbash";
import { judgeRead, judgeWrite } from "./places.ts";
import type { Scene } from "./scene.ts";
import { HARMLESS, judged, type Judgement, worst } from "./severity.ts";
import { expandText, expandWord, type Surroundings } from "./words.ts";
import { judgeAssignment } from "./variables.ts";

export interface Redirected {
  readonly judgement: Judgement;
  /** The files that are written, sinks left out. */
  readonly paths: readonly string[];
}

export function judgeRedirects(
  redirects: readonly Redirection[],
  around: Surroundings,
  scene: Scene,
): Redirected {
  const found: Judgement[] = [];
  const paths: string[] = [];
  for (const redirect of redirects) {
    if (redirect.type !== "Redirect" || redirect.target === undefined) continue;
    const targets = expandWord(redirect.target, around).flat().map((field) => field.value);
    const { operator } = redirect;
    for (const path of targets) {
      if (/&$/.test(operator) && /^(\d*-?)$/.test(path)) continue;
      if (operator === "<") {
        const socket = /^\/dev\/(tcp|udp)\//.test(path);
        found.push(
          socket
            ? judged("critical", "opens a network connection", { network: true })
            : judgeRead(path, scene.folders, scene.places),
        );
        continue;
      }
      if (operator === "<&") continue;
      const at = judgeWrite(path, scene.folders, scene.places);
      found.push(at);
      if (at.writes) paths.push(path);
    }
  }
  return { judgement: worst(HARMLESS, ...found), paths };
}

/** @return the worst of all values that the variables may get */
export function judgeVariables(assignments: readonly Assignment[], around: Surroundings): Judgement {
  const found = assignments.flatMap(({ name, value }) => {
    const texts = value.type === "ArrayValue"
      ? value.elements.flatMap((word) => expandText(word, around))
      : expandText(value, around);
    return (texts.length > 0 ? texts : [""]).map((text) => judgeAssignment(`${name}=${text}`));
  });
  return worst(HARMLESS, ...found);
}
