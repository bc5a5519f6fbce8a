/** How much a model thinks, and how it edits: what users choose from. */
import { ENGINE_OPTIONS, MODEL_OPTIONS } from "./options.ts";

/** The text to replace, the whole file, or OpenAI's patch text. */
const EDIT_FORMS = MODEL_OPTIONS.edit_form.unwrap().options;

export type EditForm = (typeof EDIT_FORMS)[number];

/** Thinking effort of a model, in ascending order. */
const EFFORTS = ENGINE_OPTIONS.effort.unwrap().options;

export type Effort = (typeof EFFORTS)[number];

/** Efforts of a session. "default" is the provider's default, whatever the options say. */
export const CHOOSABLE_EFFORTS = ["default", ...EFFORTS] as const;

export type ChoosableEffort = (typeof CHOOSABLE_EFFORTS)[number];
