/** What a restore would do, to be looked at before. */
import type { PreviewFile } from "../../protocol/requests.ts";
import { type Contents, sameSnapshot, type Snapshot } from "../core/checkpoints.ts";
import { textOf } from "./plan.ts";
import type { Planned } from "./restorer.ts";

export function previewFiles(planned: readonly Planned[], contents: Contents): PreviewFile[] {
  return planned.filter(({ quiet, restored }) => quiet !== true && restored.outcome !== "unchanged")
    .map((one) => ({ ...shown(one, contents), ...one.restored }));
}

type Sides = Pick<PreviewFile, "kind" | "now" | "then" | "opaque">;

function shown({ restored, steps, buffer }: Planned, contents: Contents): Sides {
  if (buffer !== undefined) {
    return { kind: "modified", now: buffer.unsaved, then: buffer.merged, opaque: false };
  }
  const target = steps.find(({ path }) => path === restored.path);
  if (target === undefined) return { kind: "modified", opaque: false };
  const source = steps.find(({ path }) => path === restored.from) ?? target;
  const [now, then] = [textIn(source.now, contents), textIn(target.image, contents)];
  const kind = kindOf(source.now, target.image, restored.from !== undefined);
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

/** No text where there is nothing. */
function textIn(image: Snapshot, contents: Contents): Shown {
  if (image.type === "absent") return { opaque: false, text: undefined };
  const text = image.type === "file" ? textOf(image.blob, contents)?.text : undefined;
  return text === undefined ? { opaque: true } : { opaque: false, text };
}
