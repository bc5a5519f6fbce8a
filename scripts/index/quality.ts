/**
 * Measures how often a search by meaning finds the file that answers a question:
 * `deno task index-quality [FOLDER]`. The questions are in tests/index/questions.json; FOLDER has the tree of the other
 * repository that they name.
 */
import { join } from "node:path";
import { PROJECT, taskArguments, toolEnvironment } from "../environment.ts";
import { filesOf, openIndex } from "./open_index.ts";

const USAGE = "deno task index-quality [--misses] [FOLDER]";
const RANKS = [1, 5, 10];

interface Questions {
  readonly repository: string;
  readonly commit: string;
  readonly questions: readonly { readonly question: string; readonly files: readonly string[] }[];
}

const { values: { misses = false }, positionals: [folder] } = taskArguments(
  { misses: { type: "boolean" } },
  USAGE,
);
const { PATH = "" } = await toolEnvironment(["rg"]);
Deno.env.set("PATH", PATH);
const QUESTIONS = join("tests", "index", "questions.json");
const [own, other]: readonly Questions[] = JSON.parse(await Deno.readTextFile(join(PROJECT, QUESTIONS)));
if (own !== undefined) await measure(own, PROJECT);
if (other !== undefined && folder !== undefined) await measure(other, folder);
Deno.exit(0);

async function measure({ repository, questions }: Questions, root: string): Promise<void> {
  const state = await Deno.makeTempDir({ prefix: "agent-" });
  try {
    // The file with the questions has all of their words.
    const { ask, built, index } = openIndex(await Deno.realPath(root), join(state, "index.db"), [QUESTIONS]);
    await index.state("build");
    const { files } = await built();
    const places: number[] = [];
    for (const { question, files: expected } of questions) {
      const place = filesOf(await ask(question)).findIndex((name) => expected.includes(name));
      places.push(place);
      if (misses && (place < 0 || place >= 5)) console.log(`  ${place < 0 ? "-" : place + 1}  ${question}`);
    }
    const hits = RANKS.map((rank) => {
      const count = places.filter((place) => place >= 0 && place < rank).length;
      return `hit@${rank} ${count} (${Math.round(100 * count / questions.length)} %)`;
    });
    console.log(`${repository}: ${files} files, ${questions.length} questions: ${hits.join(", ")}`);
  } finally {
    await Deno.remove(state, { recursive: true });
  }
}
