/** The tools for the web, in their order. */
import { fetchPage } from "./fetch.ts";
import { searchWeb } from "./search_web.ts";

export const WEB_TOOLS = [fetchPage, searchWeb];
