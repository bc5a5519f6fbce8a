/** Plays trials of all kinds side by side, those of files a second time as somebody without root's rights. */
import { createInterface } from "node:readline";
import { Readable } from "node:stream";
import { fileURLToPath } from "node:url";
import type { Kind, Played } from "./lane.ts";

export interface Trial extends Played {
  readonly lane: string;
}

interface Lane {
  readonly name: string;
  readonly kind: Kind;
  /** What the lane is started through. */
  readonly through: readonly string[];
}

const LANE = fileURLToPath(new URL("./lane.ts", import.meta.url));

/** Modes mean nothing to root: without its capabilities it is a user like others. */
const WITHOUT_RIGHTS = ["setpriv", "--bounding-set=-all", "--inh-caps=-all"];

async function lanes(): Promise<readonly Lane[]> {
  const own: Lane[] = [
    { name: "editor", kind: "editor", through: [] },
    { name: "files", kind: "files", through: [] },
    { name: "saves", kind: "saves", through: [] },
  ];
  if (Deno.uid() === 0 && await works(WITHOUT_RIGHTS)) {
    own.push({ name: "files without rights", kind: "files", through: WITHOUT_RIGHTS });
  }
  return [
    ...own,
    { name: "drafts", kind: "drafts", through: [] },
    { name: "openings", kind: "openings", through: [] },
  ];
}

async function works(through: readonly string[]): Promise<boolean> {
  const [program = "", ...args] = [...through, "true"];
  try {
    return (await new Deno.Command(program, { args, stderr: "null" }).output()).success;
  } catch {
    return false;
  }
}

/**
 * @param first the first seed; the others follow it
 * @param told each trial when it has ended
 */
export async function play(
  trials: number,
  first: number,
  told: (trial: Trial) => void = () => {},
): Promise<readonly Trial[]> {
  const all = await lanes();
  const shares = all.map((lane, at) => ({
    lane,
    seeds: Array.from({ length: trials }, (_, index) => index)
      .filter((index) => index % all.length === at).map((index) => first + index),
  }));
  const played = await Promise.all(
    shares.filter(({ seeds }) => seeds.length > 0).map(({ lane, seeds }) => playLane(lane, seeds, told)),
  );
  return played.flat();
}

async function playLane(lane: Lane, seeds: readonly number[], told: (trial: Trial) => void) {
  const [program = "", ...args] = [
    ...lane.through,
    Deno.execPath(),
    "run",
    "-A",
    "--quiet",
    "--no-check",
    LANE,
  ];
  const process = new Deno.Command(program, {
    args: [...args, lane.kind, ...seeds.map(String)],
    stdout: "piped",
    stderr: "inherit",
  }).spawn();
  const trials: Trial[] = [];
  const tell = (trial: Trial) => {
    trials.push(trial);
    told(trial);
  };
  for await (const line of createInterface(Readable.fromWeb(process.stdout))) {
    tell({ lane: lane.name, ...JSON.parse(line) });
  }
  const { code } = await process.status;
  for (const seed of seeds.slice(trials.length)) {
    tell({ lane: lane.name, seed, took: 0, lost: [`was not played: the lane ended with ${code}`] });
  }
  return trials;
}
