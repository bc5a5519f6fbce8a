/** Finds where bash does arithmetic with a text from elsewhere, which may hold a command. Pure. */
import { type Command, forEachChild, type SyntaxNode } from "unbash";
import { type Looseness, scriptsIn } from "./looseness.ts";

const COMPARES = /^-(eq|ne|lt|le|gt|ge)$/;

/** @return the first such place, as it stands in the line */
export function looseArithmetic(root: SyntaxNode, loose: Looseness): string | undefined {
  let found: string | undefined;
  const visit = (node: SyntaxNode): void => {
    if (found !== undefined) return;
    found = placeOf(node, loose);
    if (found === undefined) forEachChild(node, visit);
  };
  visit(root);
  return found;
}

function placeOf(node: SyntaxNode, loose: Looseness): string | undefined {
  const check = (text: string, within: SyntaxNode = node) =>
    loose.isLooseText(text, scriptsIn(within)) ? text : undefined;
  switch (node.type) {
    case "ArithmeticExpansion":
      return check(node.text);
    case "ArithmeticCommand":
      return check(node.body);
    case "ArithmeticWord":
      return check(node.value);
    case "TestBinary":
      return COMPARES.test(node.operator) ? check(`${node.left.value} ${node.right.value}`) : undefined;
    case "TestUnary":
      return node.operator === "-v" && node.operand.value.includes("$")
        ? check(node.operand.value)
        : undefined;
    case "ParameterExpansion": {
      if (node.prefix === "!" && loose.isLoose(node.parameter)) return node.text;
      const index = node.index;
      if (index !== undefined && !/^[@*]$/.test(index.value) && !loose.isMap(node.parameter)) {
        const place = check(index.value, index);
        if (place !== undefined) return place;
      }
      const { operation } = node;
      if (operation?.type !== "Slice") return undefined;
      return check(operation.offset.value, operation.offset) ??
        (operation.length === undefined ? undefined : check(operation.length.value, operation.length));
    }
    case "Assignment":
      return node.index === undefined || loose.isMap(node.name)
        ? undefined
        : check(node.index.value, node.index);
    case "Command":
      return inCommand(node, check);
    default:
      return undefined;
  }
}

/** `let` and `declare -i` do arithmetic with their words. */
function inCommand(node: Command, check: (text: string, within?: SyntaxNode) => string | undefined) {
  const name = node.name?.value ?? "";
  const words = node.args.map((word) => word.type === "Word" ? word.value : word.text);
  const counts = name === "let" ||
    /^(declare|typeset|local|readonly|export)$/.test(name) && words.some((word) => /^-\w*i/.test(word));
  return counts ? check(words.filter((word) => !word.startsWith("-")).join(" ")) : undefined;
}
