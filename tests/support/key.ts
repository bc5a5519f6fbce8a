/** The key of every request to the scripted model. It must be nowhere but in a request's header. */
export const KEY = "sk-test-3f9a1c77e0b24d5c";
