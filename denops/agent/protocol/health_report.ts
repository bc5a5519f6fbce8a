/** The supervisor's part of :checkhealth. */

export interface HealthReport {
  readonly deno: string;
  /** Base URL of the model's API. */
  readonly address: string;
  readonly root: string;
  readonly provider: string;
  readonly model: string;
  readonly key: string;
  /** The user's own providers: whether each can be used, and why. */
  readonly providers: readonly { readonly name: string; readonly text: string; readonly ready: boolean }[];
  /** The engine's sandbox, in words. */
  readonly sandbox: string;
  /** Whether the provider answers, accepts the key and has the model; absent without a provider. */
  readonly check?: { readonly state: "ok" | "error" | "unknown"; readonly text: string };
  /** Arguments as passed: bubblewrap's up to the program, empty without it; then Deno's. */
  readonly engine_sandbox: readonly string[];
  readonly engine_deno: readonly string[];
  readonly commands?: CommandsReport;
  readonly agents?: AgentsReport;
  /** Problems, one line each. */
  readonly problems: readonly string[];
  /** Problems of options that only the supervisor can check: the name, a colon, and the reason. */
  readonly options: readonly string[];
  /** ripgrep and git; `found` is absent for a missing program. */
  readonly programs: readonly { readonly name: string; readonly found?: string }[];
  readonly engines: readonly string[];
  /** Every kind of program that the supervisor starts, with its access, one line each. */
  readonly profiles: readonly string[];
}

export interface CommandsReport {
  readonly level: string;
  /** The reason why commands do not run over overlays; empty if they do. */
  readonly rehearses: string;
  /** The sandbox program and its arguments for a command in the project's root without network. */
  readonly args: readonly string[];
  /** Folders and files that appear empty to commands. */
  readonly masked_folders: readonly string[];
  readonly masked_files: readonly string[];
}

export interface AgentsReport {
  /** Those that are installed or that an option names. Not ready: the reason is in the text. */
  readonly known: readonly { readonly name: string; readonly text: string; readonly ready: boolean }[];
  /** Names of the others. */
  readonly absent: readonly string[];
}
