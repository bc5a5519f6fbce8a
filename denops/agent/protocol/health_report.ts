/** What :checkhealth shows of the supervisor. */

export interface HealthReport {
  readonly deno: string;
  /** Base URL of the model's API. */
  readonly address: string;
  readonly root: string;
  readonly provider: string;
  readonly model: string;
  readonly key: string;
  /** What holds the engine, in words. */
  readonly sandbox: string;
  /** Whether the provider is there, takes the key and has the model; absent without a provider. */
  readonly check?: { readonly state: "ok" | "error" | "unknown"; readonly text: string };
  /** Arguments exactly as passed: of bubblewrap up to the program, empty without it; then Deno and its own. */
  readonly engine_sandbox: readonly string[];
  readonly engine_deno: readonly string[];
  readonly commands?: CommandsReport;
  /** What is wrong, one line each. */
  readonly problems: readonly string[];
  /** What is wrong with options that only this side can judge: the name, a colon, and why. */
  readonly options: readonly string[];
  /** ripgrep and git; `found` is absent where one is missing. */
  readonly programs: readonly { readonly name: string; readonly found?: string }[];
  readonly engines: readonly string[];
  /** Every kind of program that the supervisor starts, and what it can reach: a line each. */
  readonly profiles: readonly string[];
}

export interface CommandsReport {
  readonly level: string;
  /** Why commands are not run over overlays; empty if they are. */
  readonly rehearses: string;
  /** The sandbox's program and arguments for a command in the project's root without network. */
  readonly args: readonly string[];
  /** Folders and files that commands find empty. */
  readonly masked_folders: readonly string[];
  readonly masked_files: readonly string[];
}
