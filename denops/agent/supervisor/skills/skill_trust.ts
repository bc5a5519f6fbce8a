/** The user's choices about skills: which of a project's are approved, and which are switched off. */
import * as z from "../../deps/zod.ts";
import { SessionBook } from "../gate/session_book.ts";

const Choice = z.object({
  /** The hash of the folder that the user has approved. */
  hash: z.string().optional(),
  off: z.boolean().optional(),
});
type Choice = Readonly<z.infer<typeof Choice>>;

export class SkillTrust {
  readonly #book: SessionBook<z.infer<typeof Choice>>;
  readonly #root: string;

  /** @param root real path of the project: its skills are approved in it alone */
  constructor(stateDir: string, root: string) {
    this.#book = new SessionBook(stateDir, "skills", Choice);
    this.#root = root;
  }

  /** @throws {Error} one line */
  async of(skill: SkillPlace): Promise<Choice> {
    return await this.#book.of(this.#key(skill)) ?? {};
  }

  /** @throws {Error} if it cannot be stored */
  async note(skill: SkillPlace, change: Choice): Promise<void> {
    await this.#book.note(this.#key(skill), { ...await this.of(skill), ...change });
  }

  #key({ label, isUsers }: SkillPlace): string {
    return JSON.stringify([isUsers ? "" : this.#root, label]);
  }
}

export interface SkillPlace {
  /** Its folder as users know it: ".claude/skills/pdf" or "~/.claude/skills/pdf". Unique. */
  readonly label: string;
  /** It is outside of the project, and needs no approval. */
  readonly isUsers: boolean;
}
