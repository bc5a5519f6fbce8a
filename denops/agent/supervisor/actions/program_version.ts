/** The version of a program, as `:checkhealth agent` shows it. */
import type { HealthReport } from "../../protocol/health_report.ts";
import { commandEnvironment } from "../system/environment.ts";
import { openProgram } from "../system/programs.ts";
import { findProgram } from "../system/sandbox.ts";

export async function programVersion(
  name: string,
  program: string,
  roots: readonly string[],
): Promise<HealthReport["programs"][number]> {
  const path = await findProgram(program, roots);
  if (path === undefined) return { name };
  const env = commandEnvironment([], undefined);
  const command = openProgram("version", path, { args: ["--version"], env, stdin: "null", stderr: "null" });
  const { stdout } = await command.output().catch(() => ({ stdout: new Uint8Array() }));
  const [line = ""] = new TextDecoder().decode(stdout).split("\n");
  return { name, found: `${line.trim()} (${path})` };
}
