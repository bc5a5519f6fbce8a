/**
 * Runs `agent run` again and again in one process, which loads its modules once. A line of standard input is a call:
 * `{ "args": […], "env": {…} }`, with all variables. A NUL ends what it has written to standard error; a NUL, its exit
 * code and a NUL end what it has written to standard output.
 */
import { createInterface } from "node:readline";
import { Readable } from "node:stream";

/** The path is a variable, as in `cli.ts`: arch_test sees neither import, and would take `main` for a test's export. */
const RUN = "../../denops/agent/run/main.ts";
const { main }: { main(args: readonly string[]): Promise<number> } = await import(RUN);

const write = (stream: typeof Deno.stdout, text: string) => stream.writeSync(new TextEncoder().encode(text));

for await (const line of createInterface(Readable.fromWeb(Deno.stdin.readable))) {
  const { args, env } = JSON.parse(line);
  for (const name of Object.keys(Deno.env.toObject())) Deno.env.delete(name);
  for (const [name, value] of Object.entries<string>(env)) Deno.env.set(name, value);
  const code = await main(args);
  write(Deno.stderr, "\0");
  write(Deno.stdout, `\0${code}\0`);
}
