/** All tools, in the order in which models are offered them. */
import { askUser } from "./ask_user.ts";
import { changes } from "./changes.ts";
import { remove } from "./delete.ts";
import { edit } from "./edit.ts";
import { job } from "./job.ts";
import { list } from "./list.ts";
import { MCP_TOOLS } from "./mcp/mcp_tools.ts";
import { move } from "./move.ts";
import { plan } from "./plan.ts";
import { read } from "./read.ts";
import { readSkill } from "./read_skill.ts";
import { refactor } from "./refactor.ts";
import { research } from "./research.ts";
import { run } from "./run.ts";
import { search } from "./search.ts";
import { subagent } from "./subagent.ts";
import { symbols } from "./symbols.ts";
import { think } from "./think.ts";
import { WEB_TOOLS } from "./web/web_tools.ts";
import { write } from "./write.ts";

export const TOOLS: readonly (typeof read)[] = [
  read,
  list,
  search,
  changes,
  symbols,
  write,
  edit,
  remove,
  move,
  refactor,
  run,
  job,
  ...WEB_TOOLS,
  plan,
  think,
  research,
  subagent,
  askUser,
  ...MCP_TOOLS,
  readSkill,
];
