/** `:checkhealth agent`. */
import { adoptEnvironment } from "../system/neovim_environment.ts";
import type { ActionContext, Handlers } from "./action.ts";
import { healthReport } from "./health_report.ts";

export function healthAction({ chats, environment, world, push }: ActionContext): Handlers<"health"> {
  return {
    async health(action) {
      adoptEnvironment(await environment());
      const { projects } = chats;
      const engines = await Promise.all(
        projects.all().map((opening) =>
          opening.then(({ engine, launch }) => `pid ${engine.pid}, ${launch.sandbox}`, String)
        ),
      );
      const report = await healthReport(projects.config, action, world, engines);
      push({ type: "health", request: action.request, report });
    },
  };
}
