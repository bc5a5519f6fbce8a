/** Plain objects. */

/** Fields that may be undefined become optional ones. */
type Defined<Fields> =
  & { [Name in keyof Fields as undefined extends Fields[Name] ? never : Name]: Fields[Name] }
  & {
    [Name in keyof Fields as undefined extends Fields[Name] ? Name : never]?: Exclude<
      Fields[Name],
      undefined
    >;
  };

/** Drops undefined fields: an optional property is present or absent, never undefined. */
export function defined<Fields extends object>(fields: Fields): Defined<Fields> {
  const present = Object.entries(fields).filter(([, value]) => value !== undefined);
  return Object.fromEntries(present) as Defined<Fields>;
}

/** Neither null nor an array. */
export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
