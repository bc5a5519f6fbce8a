/**
 * GitHub logins that Copilot accepts: ours in the state folder, and those of other editors, which are only
 * read. Such a token gives access to the account's Copilot until it is revoked, so it stays in this process.
 */
import { join } from "node:path";
import * as z from "../../../deps/zod.ts";
import { messageOf } from "../../../shared/errors.ts";

/** By host, or by host and application: "github.com:Iv1.b507a08c87ecfe98". */
const Logins = z.record(z.string(), z.unknown());
const Login = z.object({ oauth_token: z.string().min(1) });

type Env = (name: string) => string | undefined;

/** Outside of every project's folder, which is the only part of the state folder that an engine sees. */
export function loginFolder(stateDir: string): string {
  return join(stateDir, "logins");
}

function ownFile(stateDir: string): string {
  return join(loginFolder(stateDir), "copilot.json");
}

/** Files of Copilot's language server and its plugins; the newer name first. */
function files(env: Env, os: typeof Deno.build.os): readonly string[] {
  const home = env("HOME");
  const config = env("XDG_CONFIG_HOME") ||
    (os === "windows" ? env("LOCALAPPDATA") : home && join(home, ".config"));
  return config ? ["apps.json", "hosts.json"].map((name) => join(config, "github-copilot", name)) : [];
}

/** Tokens to try, ours first, without duplicates. */
export async function oauthTokens(
  host: string,
  stateDir: string,
  env: Env,
  os = Deno.build.os,
): Promise<readonly string[]> {
  const found = await Promise.all([ownFile(stateDir), ...files(env, os)].map((path) => tokensIn(path, host)));
  return [...new Set(found.flat())];
}

export async function hasOwnLogin(host: string, stateDir: string): Promise<boolean> {
  return (await tokensIn(ownFile(stateDir), host)).length > 0;
}

/** Empty for a missing or invalid file. */
async function tokensIn(path: string, host: string): Promise<readonly string[]> {
  const logins = Logins.safeParse(await Deno.readTextFile(path).then(JSON.parse).catch(() => undefined)).data;
  return Object.entries(logins ?? {}).filter(([key]) => key === host || key.startsWith(`${host}:`))
    .flatMap(([, login]) => Login.safeParse(login).data?.oauth_token ?? []);
}

/** Only the user can read the file. @throws {Error} one line */
export async function saveLogin(host: string, oauth: string, stateDir: string): Promise<void> {
  const path = ownFile(stateDir);
  const temporary = `${path}.${crypto.randomUUID()}.tmp`;
  try {
    await Deno.mkdir(loginFolder(stateDir), { recursive: true, mode: 0o700 });
    const kept = Logins.safeParse(await Deno.readTextFile(path).then(JSON.parse).catch(() => ({}))).data;
    const text = JSON.stringify({ ...kept, [host]: { oauth_token: oauth } });
    await Deno.writeTextFile(temporary, text, { mode: 0o600, createNew: true });
    await Deno.rename(temporary, path);
  } catch (error) {
    await Deno.remove(temporary).catch(() => {});
    throw new Error(`Cannot keep the login in ${path}: ${messageOf(error)}`);
  }
}

/** @returns whether one of ours existed @throws {Error} one line */
export async function removeLogin(host: string, stateDir: string): Promise<boolean> {
  const path = ownFile(stateDir);
  if (!await hasOwnLogin(host, stateDir)) return false;
  const { [host]: _, ...rest } = Logins.parse(JSON.parse(await Deno.readTextFile(path)));
  if (Object.keys(rest).length === 0) await Deno.remove(path);
  else await Deno.writeTextFile(path, JSON.stringify(rest), { mode: 0o600 });
  return true;
}
