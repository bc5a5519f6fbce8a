/** How chat templates write the values of a call's arguments. */

export type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json };
export type JsonObject = { readonly [key: string]: Json };

/** JSON as Python's `json.dumps` writes it. */
export function spaced(value: Json): string {
  if (isArray(value)) return `[${value.map(spaced).join(", ")}]`;
  if (isObject(value)) {
    return `{${
      Object.entries(value).map(([key, item]) => `${JSON.stringify(key)}: ${spaced(item)}`).join(", ")
    }}`;
  }
  return JSON.stringify(value);
}

export function compact(value: Json): string {
  return JSON.stringify(value);
}

/** A string as it is, anything else as JSON. */
export function raw(value: Json): string {
  return typeof value === "string" ? value : spaced(value);
}

/** As Jinja's `string` filter writes it: booleans are Python's. */
export function jinja(value: Json): string {
  return typeof value === "boolean" ? python(value) : raw(value);
}

/** A Python literal. */
export function python(value: Json): string {
  if (isArray(value)) return `[${value.map(python).join(", ")}]`;
  if (isObject(value)) {
    return `{${
      Object.entries(value).map(([key, item]) => `${JSON.stringify(key)}: ${python(item)}`).join(", ")
    }}`;
  }
  if (typeof value === "boolean") return value ? "True" : "False";
  return value === null ? "None" : JSON.stringify(value);
}

/** Gemma's notation: keys without quotes, strings between two marks. */
export function gemma(value: Json, mark: string): string {
  if (typeof value === "string") return `${mark}${value}${mark}`;
  if (isArray(value)) return `[${value.map((item) => gemma(item, mark)).join(",")}]`;
  if (isObject(value)) {
    return `{${Object.entries(value).map(([key, item]) => `${key}:${gemma(item, mark)}`).join(",")}}`;
  }
  return compact(value);
}

/** MiniMax M3's elements: `<item>` for each of a list, a key's name for each of an object. */
export function elements(value: Json, mark: string): string {
  const element = (name: string, item: Json) => `${mark}<${name}>${elements(item, mark)}${mark}</${name}>`;
  if (isArray(value)) return value.map((item) => element("item", item)).join("");
  if (isObject(value)) return Object.entries(value).map(([key, item]) => element(key, item)).join("");
  return typeof value === "string" ? value : compact(value);
}

function isArray(value: Json): value is readonly Json[] {
  return Array.isArray(value);
}

function isObject(value: Json): value is JsonObject {
  return typeof value === "object" && value !== null && !isArray(value);
}
