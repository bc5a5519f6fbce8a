/** Answers the requests of protocol/requests.ts; each part of the engine provides some of them. */
import { type AgentApp, type AgentContext, RequestError } from "../../deps/acp_sdk.ts";
import {
  REQUEST_NAMES,
  type RequestName,
  type RequestParams,
  type RequestResult,
  REQUESTS,
} from "../../protocol/requests.ts";
import { method } from "../../protocol/extensions.ts";
import { messageOf, ToolError } from "../../shared/errors.ts";

/** Name of a request → its answer. @throws {ToolError} one line for the user */
export type Answers = {
  readonly [Name in RequestName]?: (
    params: RequestParams<Name>,
    client: AgentContext,
  ) => Promise<RequestResult<Name>>;
};

export function answerRequests(app: AgentApp, answers: Answers): AgentApp {
  return REQUEST_NAMES.reduce((registered, name) => answerOne(registered, name, answers), app);
}

function answerOne<Name extends RequestName>(app: AgentApp, name: Name, answers: Answers): AgentApp {
  const answer: Answers[Name] = answers[name];
  if (answer === undefined) return app;
  return app.onRequest(
    method(name),
    REQUESTS[name].params,
    async ({ params, client }: { params: unknown; client: AgentContext }) => {
      try {
        return await answer(params as RequestParams<Name>, client);
      } catch (error) {
        if (error instanceof ToolError) throw new RequestError(-32602, messageOf(error));
        // The message is for the user, who does not know error codes.
        if (error instanceof RequestError) {
          throw new RequestError(error.code, error.message.replace(/^Invalid params: /, ""), error.data);
        }
        throw error;
      }
    },
  );
}
