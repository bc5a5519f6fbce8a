/** A background command on screen. */
export interface ShownJob {
  readonly id: string;
  /** One line. */
  readonly command: string;
  /** "running", or how it ended. */
  readonly state: string;
  readonly running: boolean;
  /** Milliseconds since 1970. */
  readonly started: number;
  /** Its output; if long, the beginning and the end. */
  readonly output: string;
}
