/** The parts of JSON Schema that tools use. Pure. */

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

interface ObjectSchema {
  readonly parameters: Readonly<Record<string, unknown>>;
}

/** The schemas of the arguments by name. */
export function propertiesOf({ parameters }: ObjectSchema): Readonly<Record<string, unknown>> {
  return isRecord(parameters.properties) ? parameters.properties : {};
}

export function requiredOf({ parameters }: ObjectSchema): readonly string[] {
  const { required } = parameters;
  return Array.isArray(required) ? required.filter((key) => typeof key === "string") : [];
}

/** Types of a JSON schema: `type`, or those of `anyOf` and `oneOf`. Empty: anything. */
export function typesOf(schema: unknown): ReadonlySet<string> {
  if (!isRecord(schema)) return new Set();
  const { type, anyOf, oneOf } = schema;
  const own = Array.isArray(type) ? type : [type];
  const others = [anyOf, oneOf].flatMap((list) => Array.isArray(list) ? list : []);
  return new Set([
    ...own.filter((one) => typeof one === "string"),
    ...others.flatMap((one) => [...typesOf(one)]),
  ]);
}
