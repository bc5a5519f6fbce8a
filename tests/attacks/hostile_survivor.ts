/** Stands in for engine/main.ts: does not end with its supervisor. Says in its project when it has outlived it. */
const [root = "."] = Deno.args.filter((argument) => !argument.startsWith("--"));
await Deno.writeTextFile(`${root}/started`, String(Deno.pid));
for await (const _ of Deno.stdin.readable);
await Deno.writeTextFile(`${root}/outlived`, String(Deno.pid));
setInterval(() => {}, 1_000);
