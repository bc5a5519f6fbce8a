/** Splits a body's bytes into frames, for any chunk boundaries. */
export interface Framing {
  /** Returns the frames that these bytes complete. */
  push(bytes: Uint8Array): readonly string[];
  /** Returns the frames that the end of the body completes. */
  end(): readonly string[];
}
