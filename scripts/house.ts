/** Prints the figures of the sources, beside the caps that `tests/house/arch_test.ts` enforces: `deno task house`. */
import { deno } from "./environment.ts";

const out = await Deno.makeTempFile();
try {
  const args = ["test", "-A", "--no-check", "--quiet", "--reporter=dot", "tests/house/figures.ts"];
  if (await deno(args, { AGENT_HOUSE_OUT: out }) !== 0) Deno.exit(1);
  console.log(await Deno.readTextFile(out));
} finally {
  await Deno.remove(out);
}
