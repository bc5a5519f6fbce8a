/** The default sensitive files; Lua reads the same list. */
import lists from "./defaults.json" with { type: "json" };

/**
 * The engine's configuration as other clients write it. As with the options, its `safe_to_write` follows the
 * defaults.
 */
export function withDefaults(config: unknown): unknown {
  if (typeof config !== "object" || config === null || Array.isArray(config)) return config;
  const own = "safe_to_write" in config ? config.safe_to_write : [];
  return { ...config, safe_to_write: Array.isArray(own) ? [...lists.safe_to_write, ...own] : own };
}
