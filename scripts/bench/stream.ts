/** What an answer costs while it streams: as fast as it comes, and at the pace of a fast model. */
import { atMost, group, median, over, percentile, type Row, row, times } from "./row.ts";
import { FRAME_MS, PACED, type Side, startSides, type Streamed } from "./stream_sides.ts";

const FLOOD = { tokens: 5_000, pace: 0, runs: 7, batch: 0 };
const YOUNG_RUNS = 4;
const PACED_RUNS = 3;

interface Compared {
  readonly ours: readonly Streamed[];
  readonly floor: readonly Streamed[];
}

/** Both in turn; the first of each is not counted. */
async function compare({ tokens, pace, runs, batch }: typeof FLOOD, typing = false): Promise<Compared> {
  await using sides = await startSides(batch);
  const one = (side: Side) => sides.play.stream(side, tokens, pace, typing);
  const ours: Streamed[] = [];
  const floor: Streamed[] = [];
  for (let run = 0; run <= runs; run++) {
    const [mine, bare] = [await one(sides.ours), await one(sides.floor)];
    if (run === 0) continue;
    ours.push(mine);
    floor.push(bare);
  }
  return { ours, floor };
}

/** The median of the runs. */
function compared(
  { ours, floor }: Compared,
  figure: (streamed: Streamed) => number,
  limit: (floor: number) => number,
): Row {
  return row("ms", median(ours.map(figure)), limit, median(floor.map(figure)));
}

export const flood = group(
  ["flood_first_painted", "flood_all_painted", "flood_cpu_nvim", "flood_cpu_helpers"],
  async () => {
    const found = await compare(FLOOD);
    return {
      flood_first_painted: compared(found, ({ first }) => first, over(FRAME_MS)),
      flood_all_painted: compared(found, ({ all }) => all, times(1.5)),
      flood_cpu_nvim: compared(found, ({ nvim }) => nvim, times(1.4)),
      flood_cpu_helpers: compared(found, ({ helpers }) => helpers, atMost(200)),
    };
  },
);

/** The first long answer of processes that have just started. */
export const young = group(["young_flood_painted", "young_flood_cpu"], async () => {
  const found = { ours: [] as Streamed[], floor: [] as Streamed[] };
  for (let run = 0; run < YOUNG_RUNS; run++) {
    await using sides = await startSides(FLOOD.batch);
    found.ours.push(await sides.play.stream(sides.ours, FLOOD.tokens, FLOOD.pace));
    found.floor.push(await sides.play.stream(sides.floor, FLOOD.tokens, FLOOD.pace));
  }
  return {
    young_flood_painted: compared(found, ({ all }) => all, times(1.5)),
    young_flood_cpu: compared(found, ({ helpers }) => helpers, atMost(250)),
  };
});

/** In runs of its own: each key costs Neovim a redraw. */
export const typing = group(["flood_typing_p95"], async () => {
  const { ours, floor } = await compare(FLOOD, true);
  const slow = (runs: readonly Streamed[]) => percentile(runs.flatMap(({ typed }) => typed), 0.95);
  return { flood_typing_p95: row("ms", slow(ours), atMost(1), slow(floor)) };
});

export const paced = group(
  ["paced_painted_p50", "paced_painted_p95", "paced_cpu_nvim", "paced_cpu_helpers"],
  async () => {
    const found = await compare({ ...PACED, runs: PACED_RUNS });
    const painted = (share: number) => ({ painted }: Streamed) => percentile(painted, share);
    return {
      paced_painted_p50: compared(found, painted(0.5), times(1.15)),
      paced_painted_p95: compared(found, painted(0.95), times(1.15)),
      paced_cpu_nvim: compared(found, ({ nvim }) => nvim, times(1.1)),
      paced_cpu_helpers: compared(found, ({ helpers }) => helpers, atMost(400)),
    };
  },
);
