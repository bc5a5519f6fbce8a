/** In a project's state folder: the scratch folders of its sessions, by their ids. */
export const SCRATCH_FOLDER = "scratch";
