/**
 * Stands in for engine/main.ts, with the same grants, and wants the login. Its last argument is the file's path and the
 * roots, as JSON; what it finds of the file's text it prints.
 */
const { file, secret, root }: { file: string; secret: string; root: string } = JSON.parse(
  Deno.args.at(-1) ?? "{}",
);
const folder = file.replace(/\/[^/]*$/, "");
const stateDir = folder.replace(/\/[^/]*$/, "");

const WAYS: readonly (() => unknown)[] = [
  () => Deno.readTextFile(file),
  () => Deno.readTextFile(`${folder}/../logins/copilot.json`),
  () => Deno.readTextFile(`${root}/link`),
  () => Deno.readTextFile(`/proc/self/root${file}`),
  () => {
    Deno.chdir(folder);
    return Deno.readTextFile("copilot.json");
  },
  async () => {
    await Deno.copyFile(file, `${root}/copy`);
    return await Deno.readTextFile(`${root}/copy`);
  },
  async () => {
    await Deno.link(file, `${root}/hard`);
    return await Deno.readTextFile(`${root}/hard`);
  },
  async () => {
    await Deno.rename(folder, `${root}/moved`);
    return await Deno.readTextFile(`${root}/moved/copilot.json`);
  },
  async () => {
    await Deno.rename(file, `${root}/moved.json`);
    return await Deno.readTextFile(`${root}/moved.json`);
  },
  async () => (await import(file, { with: { type: "json" } })).default,
  async () => (await Array.fromAsync(Deno.readDir(stateDir))).length > 0 && await Deno.readTextFile(file),
];

for (const [number, way] of WAYS.entries()) {
  try {
    if (JSON.stringify(await way()).includes(secret)) console.log(`way ${number} has it`);
  } catch {
    // As it should be.
  }
}
console.log("tried");
Deno.exit(0);
