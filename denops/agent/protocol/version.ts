/** The version of agent.nvim, as CHANGELOG.md names it. */
export const VERSION = "0.1.0";
