/** The files that a project's agents can access under the current rules. */
import type { FileRules, UserConfig } from "../../protocol/config.ts";
import { fileRules, hiddenFiles, parseRule, type Rule } from "../../policy/rules.ts";
import { CommandSandbox } from "../commands/sandbox.ts";
import type { CommandView } from "../commands/command_place.ts";
import { ApprovalLog } from "../gate/approval_log.ts";
import { RuleBook } from "../gate/rule_book.ts";
import { hookFolders } from "../git/hooks.ts";
import { hooksOf } from "../hooks/entries.ts";
import { guardFolders } from "../hooks/scripts.ts";
import type { DescribedPlace } from "../project/described_files.ts";
import type { SearchOptions } from "../project/place.ts";
import { neovimEnvironment } from "../system/neovim_environment.ts";

/** Chats are numbered from 1; this one has no rules of its own. */
export const NO_CHAT = 0;

export class ProjectPermissions {
  /** Real paths, the project's folder first. */
  readonly roots: readonly string[];
  /** The options; the folders of git's hooks and of guards are among the files that are never safe to write. */
  readonly user: UserConfig;
  readonly rules: RuleBook;
  readonly log: ApprovalLog;
  readonly sandbox: CommandSandbox;
  /** Whether a sandbox confines commands. */
  readonly sandboxed: boolean;
  /** The name of the shell that runs commands. */
  readonly shell: string;
  /** Rules that approve commands without a sandbox. */
  readonly unsandboxed: readonly Rule[];

  private constructor(
    roots: readonly string[],
    user: UserConfig,
    rules: RuleBook,
    sandbox: CommandSandbox,
    { sandboxed, shell }: Pick<ProjectPermissions, "sandboxed" | "shell">,
  ) {
    this.roots = roots;
    this.user = user;
    this.rules = rules;
    this.log = new ApprovalLog(user.state_dir);
    this.sandbox = sandbox;
    this.sandboxed = sandboxed;
    this.shell = shell;
    this.unsandboxed = (user.unsandboxed ?? []).map((text) => parseRule(text, "allow", "user"));
  }

  static async open(roots: readonly string[], user: UserConfig): Promise<ProjectPermissions> {
    const [root = ""] = roots;
    const rules = await RuleBook.open(user.state_dir, root, user.rules);
    const sandbox = new CommandSandbox(roots, user);
    const commands = { sandboxed: await sandbox.hold() !== "none", shell: await sandbox.shellName() };
    const { HOME: home } = neovimEnvironment();
    const { hooks } = await hooksOf(user.hooks, { root, home });
    const guarded = await guardFolders(hooks, root, home);
    const safe_to_write = [...user.safe_to_write, ...await hookFolders(roots), ...guarded];
    return new ProjectPermissions(roots, { ...user, safe_to_write }, rules, sandbox, commands);
  }

  get root(): string {
    return this.roots[0] ?? "";
  }

  /** The readable and writable files. @throws {Error} if the rules cannot be read */
  files(chat: number): FileRules {
    return fileRules(this.user, this.rules.rules(chat));
  }

  /** The scope of searches. @throws {Error} if the rules cannot be read */
  search(chat: number): SearchOptions & { readonly rules: FileRules } {
    return { roots: this.roots, rules: this.files(chat), sandboxed: this.sandboxed };
  }

  /**
   * The folders of the user's and the project's prompts and modes. @throws {Error} if the rules cannot be
   * read
   */
  described(chat: number): DescribedPlace {
    return { root: this.root, configDir: this.user.config_dir, rules: this.files(chat) };
  }

  /** The files that commands see; undefined without a sandbox. */
  async view(files: FileRules): Promise<CommandView | undefined> {
    return this.sandboxed ? await this.sandbox.view(hiddenFiles(files)) : undefined;
  }
}
