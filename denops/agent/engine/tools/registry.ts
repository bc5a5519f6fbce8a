/** Every tool, in the order in which a model is told of them. */
import type { Tool } from "./define.ts";
import { commandOutput } from "./command_output.ts";
import { editFile } from "./edit_file.ts";
import { findCodeChanges } from "./find_code_changes.ts";
import { findFiles } from "./find_files.ts";
import { listFiles } from "./list_files.ts";
import { searchWorkspace } from "./search_workspace.ts";
import { listDirectory } from "./list_directory.ts";
import { readFile } from "./read_file.ts";
import { runTerminalCommand } from "./run_terminal_command.ts";
import { stopCommand } from "./stop_command.ts";
import { askUser } from "./ask_user.ts";
import { deleteFile } from "./delete_file.ts";
import { moveFile } from "./move_file.ts";
import { readFiles } from "./read_files.ts";
import { research } from "./research.ts";
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
  deleteFile,
  moveFile,
  runTerminalCommand,
  commandOutput,
  stopCommand,
  think,
  updatePlan,
  askUser,
];
