/** Folder of the sessions' scratch folders in a project's state folder. */
export const SCRATCH_FOLDER = "scratch";
