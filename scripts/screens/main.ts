/**
 * Takes pictures of the plugin, to look at: `deno task screens`.
 *
 * - `deno task screens [--columns N] [--rows N] [--background light] SITUATION FILE.svg` takes one.
 *   Of a long chat it takes one for each part.
 * - `deno task screens --all FOLDER [SITUATION …]` takes each (or these) at four sizes on both backgrounds.
 */
import { join } from "node:path";
import { taskArguments, toolEnvironment } from "../environment.ts";
import { type Situation, SITUATIONS } from "./situations.ts";
import { svgOf } from "./svg.ts";
import { type Background, type NamedPicture, takePictures } from "./take.ts";

interface Size {
  readonly columns: number;
  readonly lines: number;
}

const SIZES: readonly Size[] = [
  { columns: 40, lines: 15 },
  { columns: 80, lines: 24 },
  { columns: 120, lines: 40 },
  { columns: 200, lines: 50 },
];
const NAMES = SITUATIONS.map(({ name }) => name).join(", ");
const USAGE = `Usage: deno task screens [--columns N] [--rows N] [--background light] SITUATION FILE.svg
       deno task screens --all FOLDER [SITUATION …]
Situations: ${NAMES}`;

const { values: flags, positionals } = taskArguments({
  all: { type: "boolean", default: false },
  columns: { type: "string", default: "120" },
  rows: { type: "string", default: "40" },
  background: { type: "string", default: "dark" },
}, USAGE);

/** @throws {Error} for an unknown name */
function situation(name: string): Situation {
  const found = SITUATIONS.find((one) => one.name === name);
  if (found === undefined) throw new Error(`Cannot take ${name}: no situation has this name. Try ${NAMES}.`);
  return found;
}

async function write(file: string, { title }: Situation, { picture }: NamedPicture): Promise<void> {
  await Deno.writeTextFile(file, svgOf(picture, title));
  console.log(file);
}

async function takeOne(
  situation: Situation,
  size: Size,
  background: Background,
  file: string,
): Promise<void> {
  const pictures = await takePictures(situation, size, [background]);
  for (const [at, picture] of pictures.entries()) {
    const isOnly = pictures.length === 1;
    await write(isOnly ? file : file.replace(/(\.svg)?$/, `-${at + 1}.svg`), situation, picture);
  }
}

async function takeAll(folder: string, situations: readonly Situation[]): Promise<void> {
  await Deno.mkdir(folder, { recursive: true });
  const queue = situations.flatMap((situation) => SIZES.map((size) => ({ situation, size })));
  const work = async () => {
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
      const { situation, size } = next;
      const name = `${situation.name}-${size.columns}x${size.lines}`;
      try {
        for (const picture of await takePictures(situation, size, ["dark", "light"])) {
          await write(join(folder, `${name}-${picture.suffix}.svg`), situation, picture);
        }
      } catch (error) {
        console.error(`${name}: ${error instanceof Error ? error.message : error}`);
        Deno.exitCode = 1;
      }
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
  await takeOne(situation(first), { columns, lines }, background, second);
}

await main(positionals);
