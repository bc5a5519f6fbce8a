/** A request to a model and its answer as they were on the wire. */
export interface HttpExchange {
  /** Milliseconds since 1970. */
  readonly time: number;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Undefined: it had no room. */
  readonly body: string | undefined;
  /** Undefined until it arrives. */
  readonly answer: {
    readonly status: number;
    readonly headers: readonly (readonly [name: string, value: string])[];
    /** Milliseconds from the request to the headers. */
    readonly after: number;
    readonly body: string;
    /** A part of the body had no room. */
    readonly isCut: boolean;
  } | undefined;
  /** Why no complete answer arrived. */
  readonly failure: string | undefined;
  /** Texts that nobody may see. */
  readonly secrets: readonly string[];
}
