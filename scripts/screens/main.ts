/**
 * Takes pictures of the plugin, to look at: `deno task screens`.
 *
 * - `deno task screens [--columns N] [--rows N] [--background light] SITUATION FILE.svg` takes one.
 * - `deno task screens --all FOLDER [SITUATION …]` takes each (or these) at four sizes on both backgrounds.
 */
import { join } from "node:path";
import { parseArgs } from "node:util";
import { toolEnvironment } from "../environment.ts";
import { type Situation, SITUATIONS } from "./situations.ts";
import { svgOf } from "./svg.ts";
import { type Background, takePictures } from "./take.ts";

const SIZES = [[40, 15], [80, 24], [120, 40], [200, 50]] as const;
const NAMES = SITUATIONS.map(({ name }) => name).join(", ");
const USAGE = `Usage: deno task screens [--columns N] [--rows N] [--background light] SITUATION FILE.svg
       deno task screens --all FOLDER [SITUATION …]
Situations: ${NAMES}`;

const { values: flags, positionals } = parseArgs({
  args: Deno.args,
  allowPositionals: true,
  options: {
    all: { type: "boolean", default: false },
    columns: { type: "string", default: "120" },
    rows: { type: "string", default: "40" },
    background: { type: "string", default: "dark" },
  },
});

/** @throws {Error} for an unknown name */
function situation(name: string): Situation {
  const found = SITUATIONS.find((one) => one.name === name);
  if (found === undefined) throw new Error(`Cannot take ${name}: no situation has this name. Try ${NAMES}.`);
  return found;
}

/** @param file the path for each background */
async function write(
  situation: Situation,
  [columns, lines]: readonly [number, number],
  backgrounds: readonly [Background, ...Background[]],
  file: (background: Background) => string,
): Promise<void> {
  const pictures = await takePictures(situation, { columns, lines }, backgrounds);
  for (const [background, picture] of pictures) {
    await Deno.writeTextFile(file(background), svgOf(picture, situation.title));
    console.log(file(background));
  }
}

async function takeAll(folder: string, situations: readonly Situation[]): Promise<void> {
  await Deno.mkdir(folder, { recursive: true });
  const queue = situations.flatMap((situation) => SIZES.map((size) => ({ situation, size })));
  const work = async () => {
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
      const { situation, size } = next;
      const name = `${situation.name}-${size.join("x")}`;
      await write(
        situation,
        size,
        ["dark", "light"],
        (background) => join(folder, `${name}-${background}.svg`),
      )
        .catch((error) => {
          console.error(`${name}: ${error instanceof Error ? error.message : error}`);
          Deno.exitCode = 1;
        });
    }
  };
  await Promise.all([work(), work()]);
}

async function main([first, second, ...more]: readonly string[]): Promise<void> {
  const env = await toolEnvironment(["nvim", "git", "rg", "bwrap"]);
  for (const [name, value] of Object.entries(env)) Deno.env.set(name, value);
  if (flags.all && first !== undefined) {
    const names = [...second === undefined ? [] : [second], ...more];
    await takeAll(first, names.length === 0 ? SITUATIONS : names.map(situation));
    return;
  }
  const [columns, lines] = [Number(flags.columns), Number(flags.rows)];
  const { background } = flags;
  const isRight = columns > 0 && lines > 0 && (background === "dark" || background === "light");
  if (first === undefined || second === undefined || !isRight) {
    console.error(USAGE);
    Deno.exit(2);
  }
  await write(situation(first), [columns, lines], [background], () => second);
}

await main(positionals);
