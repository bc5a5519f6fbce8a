/** Unpacks Debian packages into a folder, with an apt state of its own: the system is only read. @module */

import { join } from "node:path";

const keyring = "/usr/share/keyrings/debian-archive-keyring.gpg";
const mirror = "http://deb.debian.org";

/** Where packages come from, and which of them need not be fetched because they are there. */
export interface Suite {
  /** For example `testing` or `bookworm`. */
  readonly name: string;
  /** Lines of a sources.list, without the type and the options. */
  readonly sources: readonly string[];
  /** `none`: fetch all that the package needs, libc and its loader too. `system`: only what dpkg does not list. */
  readonly installed: "none" | "system";
}

/** Debian testing, and nothing of the system: runs wherever the kernel does. */
export const testing: Suite = {
  name: "testing",
  sources: [`${mirror}/debian testing main`],
  installed: "none",
};

/** The suite whose programs run with the system's own libraries, or {@link testing} if it has no name here. */
export function suiteOf(osRelease: string): Suite {
  const { ID, VERSION_CODENAME: name } = parseOsRelease(osRelease);
  if (ID !== "debian" || name === undefined) return testing;
  const sources = [
    `${mirror}/debian ${name} main`,
    `${mirror}/debian ${name}-updates main`,
    `${mirror}/debian-security ${name}-security main`,
  ];
  return { name, sources, installed: "system" };
}

/** The fields of os-release(5), unquoted. */
export function parseOsRelease(text: string): Readonly<Record<string, string | undefined>> {
  const fields = text.matchAll(/^([A-Z_0-9]+)=(["']?)(.*?)\2\s*$/gm);
  return Object.fromEntries(Array.from(fields, ([, key, , value]) => [key, value]));
}

/** Whether {@link openApt} can work here. `lookup` finds a program on the PATH. */
export async function hasApt(
  osRelease: string,
  lookup: (program: string) => Promise<string | undefined>,
): Promise<boolean> {
  const { ID, ID_LIKE } = parseOsRelease(osRelease);
  if (ID !== "debian" && !ID_LIKE?.split(" ").includes("debian")) return false;
  const programs = await Promise.all(["apt-get", "dpkg"].map(lookup));
  return !programs.includes(undefined) && await Deno.stat(keyring).then(() => true, () => false);
}

export interface Apt {
  /** Fetches a package with what it needs and unpacks all of it into `folder`. */
  unpack(packageName: string, folder: string): Promise<void>;
}

/**
 * Fetches the suite's list of packages into `state`, a folder of its own.
 *
 * @throws {Error} whose message is apt's own last error, as all of {@link Apt} does
 */
export async function openApt(state: string, suite: Suite): Promise<Apt> {
  for (const folder of ["etc/apt/preferences.d", "var/lib/apt/lists/partial", "tmp"]) {
    await Deno.mkdir(join(state, folder), { recursive: true });
  }
  const lines = suite.sources.map((source) => `deb [signed-by=${keyring}] ${source}\n`);
  await Deno.writeTextFile(join(state, "etc/apt/sources.list"), lines.join(""));
  await Deno.writeTextFile(join(state, "none"), "");
  await Deno.writeTextFile(join(state, "apt.conf"), configuration);

  const status = suite.installed === "none" ? join(state, "none") : "/var/lib/dpkg/status";
  const directories = [`-oDir=${state}/`, `-oDir::State::status=${status}`];
  const apt = (...args: string[]) =>
    run("apt-get", ["-c", join(state, "apt.conf"), ...directories, ...args], join(state, "tmp"));
  await apt("update");
  return {
    async unpack(packageName, folder) {
      const archives = `${folder}.archives`;
      await Deno.mkdir(join(archives, "partial"), { recursive: true });
      await Deno.mkdir(folder, { recursive: true });
      // With --reinstall it is fetched even if dpkg lists it, as it does a program that is not on the PATH.
      const options = ["--download-only", "--no-install-recommends", "--reinstall", "--yes"];
      await apt(`-oDir::Cache::archives=${archives}`, "install", ...options, packageName);
      for await (const { name } of Deno.readDir(archives)) {
        if (name.endsWith(".deb")) {
          await run("dpkg", ["-x", join(archives, name), folder], join(state, "tmp"));
        }
      }
      await Deno.remove(archives, { recursive: true });
    },
  };
}

/** Read after the system's own configuration, which may name a proxy. Hooks would write outside of the folder. */
const configuration = `#clear APT::Update::Pre-Invoke;
#clear APT::Update::Post-Invoke;
#clear APT::Update::Post-Invoke-Success;
APT::Sandbox::User "";
APT::Update::Error-Mode "any";
Acquire::Languages "none";
Acquire::Retries "2";
Acquire::http::Timeout "20";
Debug::NoLocking "true";
Dir::Cache::pkgcache "";
Dir::Cache::srcpkgcache "";
Dir::Etc::preferencesparts "preferences.d";
quiet "2";
`;

async function run(command: string, args: readonly string[], TMPDIR: string): Promise<void> {
  const env = { LC_ALL: "C", TMPDIR };
  const { success, stderr } = await new Deno.Command(command, {
    args: [...args],
    env,
    stdin: "null",
    stdout: "null",
    stderr: "piped",
  }).output();
  if (success) return;
  const lines = new TextDecoder().decode(stderr).trim().split("\n");
  // Apt's very last line only says that some download failed, the one before says which and why.
  const errors = lines.filter((line) => line.startsWith("E: ") && !line.startsWith("E: Some index files"));
  throw new Error(errors.at(-1)?.slice("E: ".length) ?? lines.at(-1) ?? `${command} failed`);
}
