/** Logins at providers. */
import type { ActionContext, Handlers } from "./action.ts";

export function loginActions(
  { chats: { projects }, logins }: ActionContext,
): Handlers<"login" | "login_wait" | "login_stop" | "logout"> {
  return {
    login: ({ request, provider }) => logins.begin(request, provider, projects.config),
    login_wait: ({ request }) => logins.wait(request),
    login_stop: () => logins.stop(),
    logout: ({ request, provider }) => logins.forget(request, provider, projects.config),
  };
}
