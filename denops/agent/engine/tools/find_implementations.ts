import { locationTool } from "./lsp/location_tool.ts";

export const findImplementations = locationTool({
  name: "find_implementations",
  description: "Find what implements an interface, an abstract class or one of their methods.",
  op: "implementations",
  noun: "implementation",
});
