import { locationTool } from "./lsp/location_tool.ts";

export const findDefinition = locationTool({
  name: "find_definition",
  description:
    "Find where a symbol is defined, as the language server knows it: name a file in which the symbol " +
    "is used, and the symbol. Better than a text search: it follows imports and knows scopes.",
  op: "definition",
  noun: "definition",
});
