/** Folders of the user, as Neovim would choose them. */
import { join } from "node:path";

/** The environment's variables. */
export type Variables = Readonly<Record<string, string>>;

/** @param variable such as "XDG_CONFIG_HOME" @param fallback below the home folder */
function xdg(variables: Variables, variable: string, fallback: string): string {
  const chosen = variables[variable];
  // The specification ignores relative paths.
  return chosen?.startsWith("/") ? chosen : join(variables.HOME ?? "/", fallback);
}

/** The file with the options for programs that work without Neovim. */
export function configurationFile(variables: Variables): string {
  return join(xdg(variables, "XDG_CONFIG_HOME", ".config"), "agent.nvim", "config.json");
}

/** Neovim's `stdpath("config")`. It contains the user's rules, prompts and modes. */
export function neovimConfigFolder(variables: Variables): string {
  return join(xdg(variables, "XDG_CONFIG_HOME", ".config"), variables.NVIM_APPNAME || "nvim");
}

/** The default of the option state_dir: below Neovim's `stdpath("state")`. */
export function defaultStateFolder(variables: Variables): string {
  return join(xdg(variables, "XDG_STATE_HOME", ".local/state"), variables.NVIM_APPNAME || "nvim", "agent");
}
