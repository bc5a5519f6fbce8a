/**
 * Makes tests/store/schemas/: for every schema that ever landed, a database that its own commit's engine has filled
 * (COMMIT.db.gz), and what that engine's readers find in it (COMMIT.json.gz). Run
 * `deno run -A tests/store/make_schemas.ts [COMMIT …]`. When a change of the schema has landed, add its commit here.
 */
import { join } from "node:path";

/** The first commit of each schema. */
export const COMMITS = [
  ...["4c13d27f", "091d89d7", "0e209cac", "bfebc94d", "b1dc7a30", "c31a0d50", "515b9ec2", "1027d39c"],
  ...["a05bbf5b", "21e36055", "b339a6ca", "d309a843", "b5839382", "aa8e1505", "d1dbeae1", "abead1a3"],
  ...["8033910a", "39559bc7", "4613fcf4", "0f5d125a", "17d8867c", "ac199bf0", "f1429fc7", "f51487f8"],
  ...["69d02bf9", "8b3dcdb5", "fee16a18", "3c74621d", "7301f779", "b5859e74"],
] as const;

const HERE = import.meta.dirname ?? "";

async function run(command: string, args: readonly string[], cwd?: string): Promise<void> {
  const { success } = await new Deno.Command(command, {
    args: [...args],
    ...(cwd === undefined ? {} : { cwd }),
  })
    .spawn().status;
  if (!success) throw new Error(`${command} ${args.join(" ")} failed`);
}

async function make(commit: string): Promise<void> {
  const folder = await Deno.makeTempDir();
  try {
    await run("git", ["-C", HERE, "worktree", "add", "--quiet", "--detach", folder, commit]);
    const play = join(folder, "tests/support/old_engine.ts");
    await Deno.copyFile(join(HERE, "old_engine.ts"), play);
    await run(Deno.execPath(), ["run", "-A", "--no-check", play, join(HERE, "schemas"), commit], folder);
  } finally {
    await run("git", ["-C", HERE, "worktree", "remove", "--force", folder]);
  }
}

if (import.meta.main) {
  for (const commit of Deno.args.length > 0 ? Deno.args : COMMITS) await make(commit);
}
