/** Measures TypeScript sources for the caps of arch_test.ts. */

/** Of one file; of its longest function, in lines; of its longest constructor; of one folder; of policy/command, in lines. */
export const CAPS = {
  lines: 500,
  imports: 20,
  exports: 15,
  function: 60,
  parameters: 5,
  files: 22,
  parser: 2_000,
};

export interface Measure {
  /** Modules that the file imports or re-exports. */
  readonly imports: number;
  /** Exported names; a zod schema and its inferred type share one. */
  readonly exports: readonly string[];
  /** Exported interfaces, classes, enums and type aliases that the file declares. */
  readonly types: readonly string[];
  /** Lines of its longest function. */
  readonly longest: number;
  /** Parameters of its longest constructor. */
  readonly parameters: number;
}

type Span = readonly [start: number, end: number];

/** Runs in `deno test` only. */
export function measure(path: string, text: string): Measure {
  const modules = new Set<string>();
  const exports = new Set<string>();
  const types = new Set<string>();
  let longest = 0;
  let parameters = 0;
  const body = ({ range: [start, end] }: { readonly range: Span }) => {
    longest = Math.max(longest, text.slice(start, end).split("\n").length);
  };
  const rule: Deno.lint.Rule = {
    create: () => ({
      ImportDeclaration: ({ source }) => void modules.add(source.value),
      ExportAllDeclaration: ({ source }) => void modules.add(source.value),
      ExportNamedDeclaration({ declaration, source, specifiers }) {
        if (source !== null) modules.add(source.value);
        for (const { exported } of specifiers) {
          if (exported.type === "Identifier") exports.add(exported.name);
        }
        for (const { name, isType } of declared(declaration)) {
          exports.add(name);
          if (isType) types.add(name);
        }
      },
      FunctionDeclaration: body,
      FunctionExpression: body,
      ArrowFunctionExpression: body,
      MethodDefinition({ kind, value }) {
        if (kind === "constructor") parameters = Math.max(parameters, value.params.length);
      },
    }),
  };
  Deno.lint.runPlugin({ name: "caps", rules: { measure: rule } }, path, text);
  return { imports: modules.size, exports: [...exports], types: [...types], longest, parameters };
}

/** Names that an exported declaration declares. */
function declared(node: Deno.lint.ExportNamedDeclaration["declaration"]) {
  const names: { readonly name: string; readonly isType: boolean }[] = [];
  if (node === null || node === undefined) return names;
  if (node.type === "VariableDeclaration") {
    for (const { id } of node.declarations) {
      if (id.type === "Identifier") names.push({ name: id.name, isType: false });
    }
  } else if ("id" in node && node.id?.type === "Identifier") {
    names.push({ name: node.id.name, isType: node.type !== "FunctionDeclaration" });
  }
  return names;
}
