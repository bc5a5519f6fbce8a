import { locationTool } from "./lsp/location_tool.ts";

export const findReferences = locationTool({
  name: "find_references",
  description:
    "Find every use of a symbol in the project, its definition included, as the language server knows " +
    "them. Grouped by file, at most 30.",
  op: "references",
  noun: "reference",
});
