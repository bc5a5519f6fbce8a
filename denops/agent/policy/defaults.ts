/** Which files are sensitive unless the user says otherwise; the same list as the one of the Lua options. */
import lists from "./defaults.json" with { type: "json" };

/**
 * A configuration of the engine as a client other than ours writes it: without lists of its own it has ours. As with
 * the options, its `deny_read` replaces, and its `safe_to_write` comes after ours.
 */
export function withDefaults(config: unknown): unknown {
  if (typeof config !== "object" || config === null || Array.isArray(config)) return config;
  const { deny_read, safe_to_write } = lists;
  const own = "safe_to_write" in config ? config.safe_to_write : [];
  return { deny_read, ...config, safe_to_write: Array.isArray(own) ? [...safe_to_write, ...own] : own };
}
