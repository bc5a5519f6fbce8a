/** Every tool, in the order in which a model is told of them. */
import type { Tool } from "./define.ts";
import { askUser } from "./ask_user.ts";
import { codeAction } from "./code_action.ts";
import { commandOutput } from "./command_output.ts";
import { deleteFile } from "./delete_file.ts";
import { editFile } from "./edit_file.ts";
import { findCodeChanges } from "./find_code_changes.ts";
import { findDefinition } from "./find_definition.ts";
import { findFiles } from "./find_files.ts";
import { findImplementations } from "./find_implementations.ts";
import { findReferences } from "./find_references.ts";
import { findSymbol } from "./find_symbol.ts";
import { getCallHierarchy } from "./get_call_hierarchy.ts";
import { getDiagnostics } from "./get_diagnostics.ts";
import { getDocumentSymbols } from "./get_document_symbols.ts";
import { getHoverInfo } from "./get_hover_info.ts";
import { getTypeHierarchy } from "./get_type_hierarchy.ts";
import { listDirectory } from "./list_directory.ts";
import { listFiles } from "./list_files.ts";
import { moveFile } from "./move_file.ts";
import { readFile } from "./read_file.ts";
import { readFiles } from "./read_files.ts";
import { renameSymbol } from "./rename_symbol.ts";
import { research } from "./research.ts";
import { runSubagent } from "./run_subagent.ts";
import { runTerminalCommand } from "./run_terminal_command.ts";
import { searchWorkspace } from "./search_workspace.ts";
import { stopCommand } from "./stop_command.ts";
import { subagentOutput } from "./subagent_output.ts";
import { think } from "./think.ts";
import { updatePlan } from "./update_plan.ts";
import { writeFile } from "./write_file.ts";

export const TOOLS: readonly Tool[] = [
  readFile,
  readFiles,
  listDirectory,
  listFiles,
  findFiles,
  searchWorkspace,
  findCodeChanges,
  research,
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
  deleteFile,
  moveFile,
  runTerminalCommand,
  commandOutput,
  stopCommand,
  runSubagent,
  subagentOutput,
  think,
  updatePlan,
  askUser,
];
