/** Turns a body's bytes into frames, whatever the pieces in which they come. */
export interface Framing {
  /** The frames that these bytes complete. */
  push(bytes: Uint8Array): readonly string[];
  /** The frames that the end of the body completes. */
  end(): readonly string[];
}
