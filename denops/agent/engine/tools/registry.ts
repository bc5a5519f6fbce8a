/** Every tool, in the order in which a model is told of them. */
import type { Tool } from "./define.ts";
import { codeAction } from "./code_action.ts";
import { editFile } from "./edit_file.ts";
import { findDefinition } from "./find_definition.ts";
import { findImplementations } from "./find_implementations.ts";
import { findReferences } from "./find_references.ts";
import { findSymbol } from "./find_symbol.ts";
import { getCallHierarchy } from "./get_call_hierarchy.ts";
import { getDiagnostics } from "./get_diagnostics.ts";
import { getDocumentSymbols } from "./get_document_symbols.ts";
import { getHoverInfo } from "./get_hover_info.ts";
import { getTypeHierarchy } from "./get_type_hierarchy.ts";
import { listDirectory } from "./list_directory.ts";
import { readFile } from "./read_file.ts";
import { renameSymbol } from "./rename_symbol.ts";
import { writeFile } from "./write_file.ts";

export const TOOLS: readonly Tool[] = [
  readFile,
  listDirectory,
  writeFile,
  editFile,
  getDiagnostics,
  getDocumentSymbols,
  findDefinition,
  findReferences,
  findImplementations,
  getHoverInfo,
  getTypeHierarchy,
  getCallHierarchy,
  findSymbol,
  renameSymbol,
  codeAction,
];
