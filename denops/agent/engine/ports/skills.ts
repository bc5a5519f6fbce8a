/** Skills: instructions for special tasks, which the client reads and the user has approved. */
export interface SkillsPort {
  /** @throws {ToolError} */
  text(name: string, signal: AbortSignal): Promise<string>;
  /** A text file of a skill outside of the project. @param path absolute @returns undefined if it is none @throws {ToolError} */
  file(path: string, signal: AbortSignal): Promise<string | undefined>;
  /** Whether the model still sees this text. */
  isSeen(text: string): boolean;
}
