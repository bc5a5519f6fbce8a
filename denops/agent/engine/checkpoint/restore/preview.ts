/** A preview of a restore. */
import type { PreviewFile } from "../../../protocol/requests.ts";
import { type Contents, sameSnapshot, type Snapshot } from "../../log/checkpoints.ts";
import { textOf } from "./plan.ts";
import type { Restored, RestorePlan } from "./planner.ts";

export function previewFiles(plan: RestorePlan, contents: Contents): PreviewFile[] {
  return plan.files.filter(({ outcome }) => outcome !== "unchanged")
    .map((file) => ({ ...sidesOf(file, plan, contents), ...file }));
}

type Sides = Pick<PreviewFile, "kind" | "now" | "then" | "opaque">;

function sidesOf({ path, from }: Restored, { steps, buffers }: RestorePlan, contents: Contents): Sides {
  const buffer = buffers.get(path);
  if (buffer !== undefined) {
    return { kind: "modified", now: buffer.unsaved, then: buffer.merged, opaque: false };
  }
  const target = steps.get(path);
  if (target === undefined) return { kind: "modified", opaque: false };
  const source = steps.get(from ?? path) ?? target;
  const [now, then] = [textIn(source.now, contents), textIn(target.image, contents)];
  const kind = kindOf(source.now, target.image, from !== undefined);
  if (now.opaque || then.opaque) return { kind, opaque: true };
  return {
    kind,
    opaque: false,
    ...(now.text === undefined ? {} : { now: now.text }),
    ...(then.text === undefined ? {} : { then: then.text }),
  };
}

function kindOf(now: Snapshot, image: Snapshot, moved: boolean): PreviewFile["kind"] {
  if (moved) return "renamed";
  if (image.type === "absent") return "deleted";
  return now.type === "absent" && !sameSnapshot(now, image) ? "created" : "modified";
}

type Shown = { readonly opaque: true } | { readonly opaque: false; readonly text: string | undefined };

/** No text for a missing file. */
function textIn(image: Snapshot, contents: Contents): Shown {
  if (image.type === "absent") return { opaque: false, text: undefined };
  const text = image.type === "file" ? textOf(image.blob, contents)?.text : undefined;
  return text === undefined ? { opaque: true } : { opaque: false, text };
}
