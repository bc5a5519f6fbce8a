/**
 * Whether commands can run over overlays here: tested once for the roots and the file system of the writes.
 */
import { basename, join } from "node:path";
import { messageOf } from "../../../shared/errors.ts";
import { isRoot } from "./holder.ts";
import { hasSupportFile, removeSupportFile, writeSupportFile } from "./support_file.ts";
import { Overlay, type OverlayOptions } from "./overlay.ts";

/** `reason`: half a sentence, for health. */
export type OverlaySupport = { readonly works: true } | { readonly works: false; readonly reason: string };

const LONGEST_MS = 10_000;
const probed = new Map<string, Promise<OverlaySupport>>();

/** Tests it once for this process, unless an earlier one has. */
export async function overlaySupport(options: OverlayOptions): Promise<OverlaySupport> {
  const key = await keyOf(options);
  const known = probed.get(key) ?? storedOrProbe(options);
  probed.set(key, known);
  return await known;
}

/** An overlay has not started: the next call tests it again. */
export async function forgetOverlaySupport(options: OverlayOptions): Promise<void> {
  await removeSupportFile(options);
  probed.delete(await keyOf(options));
}

async function keyOf({ roots, state, store }: OverlayOptions): Promise<string> {
  const { dev } = await Deno.stat(state);
  return JSON.stringify([roots, store === "disk" ? dev : "memory"]);
}

async function storedOrProbe(options: OverlayOptions): Promise<OverlaySupport> {
  if (await hasSupportFile(options).catch(() => false) && foreignRoot(options) === undefined) {
    return { works: true };
  }
  const support = await probe(options);
  // A failure is not kept: the user may change a setting.
  if (support.works) await writeSupportFile(options).catch(() => {});
  return support;
}

async function probe(options: OverlayOptions): Promise<OverlaySupport> {
  if (Deno.build.os !== "linux") return { works: false, reason: `no overlays on ${Deno.build.os}` };
  let sample: string | undefined;
  try {
    sample = await Deno.makeTempDir({ dir: await Deno.realPath(options.state), prefix: "probe-" });
    await Deno.mkdir(join(sample, "d"));
    await Deno.writeTextFile(join(sample, "d", "f"), "");
    return await tried({ ...options, roots: [...options.roots, sample] }, sample);
  } catch (error) {
    return { works: false, reason: messageOf(error) };
  } finally {
    if (sample !== undefined) await Deno.remove(sample, { recursive: true });
  }
}

/**
 * A user namespace knows only one user, so other users' files cannot be copied to another layer (EOVERFLOW).
 * Source: user_namespaces(7).
 */
function foreignRoot({ roots }: OverlayOptions): string | undefined {
  if (isRoot()) return undefined;
  return roots.find((root) => {
    const { uid, gid } = Deno.statSync(root);
    return uid !== Deno.uid() || gid !== Deno.gid();
  });
}

async function tried(options: OverlayOptions, sample: string): Promise<OverlaySupport> {
  await using overlay = await Overlay.start(options);
  const foreign = foreignRoot(options);
  if (foreign !== undefined) return { works: false, reason: `${foreign} belongs to another user or group` };
  const failed = await overlay.run(TRY, [basename(sample), ...options.roots]);
  if (failed !== undefined) return { works: false, reason: failed };
  const found = await overlay.list(AbortSignal.timeout(LONGEST_MS));
  const paths = found.flatMap(({ changes }) => changes.map(({ path }) => path)).join();
  if (paths !== "d/f") return { works: false, reason: "an overlay does not tell what has changed" };
  return { works: true };
}

/** Some file systems can be mounted as an upper layer, but fail when a file of the lower one is removed. */
const TRY = `name=$1; shift
for root; do cd "$root"; mkdir "$name"; rmdir "$name"; done
rm -r d; mkdir d`;
