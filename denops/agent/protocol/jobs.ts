/** A command in the background, as it is shown. */
export interface ShownJob {
  readonly id: string;
  /** One line. */
  readonly command: string;
  /** "running", or how it has ended. */
  readonly state: string;
  readonly running: boolean;
  /** Milliseconds since 1970. */
  readonly started: number;
  /** What it has printed; of much its beginning and its end. */
  readonly output: string;
}
