export { conflictText, merge3, mergePreferringOurs } from "../core/merge.ts";
