/** Builds the ports of a turn from those of the session. */
import { againstMode } from "../../../policy/decide_mode.ts";
import { narrowed } from "../../../protocol/modes.ts";
import { familyOf, thinksNever } from "../../../models/families.ts";
import { defined } from "../../../shared/records.ts";
import { MODES, within } from "../../context/modes.ts";
import type { ContextPage } from "../../context/message_parts.ts";
import { outline } from "../../context/outline.ts";
import { modeText, view } from "../../context/view.ts";
import { causesOf, contextPage } from "../gather/context_page.ts";
import { Prefix } from "../gather/prefix.ts";
import { Room } from "../gather/room.ts";
import {
  enabledMcp,
  goneTools,
  hasTools,
  listNow,
  missingTools,
  oldSpecs,
  refusalOf,
  sessionSkills,
  toolList,
  withSkillNames,
} from "../settings/offered.ts";
import { isMcpName } from "../../tools/mcp/mcp_tool.ts";
import type { LoopModels, LoopOptions } from "./loop_models.ts";
import type { Measured } from "./meter.ts";
import { claimsChange } from "./policies/claims.ts";
import { TextCalls } from "./policies/text_calls.ts";
import { WriteChecks } from "./policies/write_checks.ts";
import type { ContextPorts, RunnerPorts } from "./runner.ts";
import { turnHooks, type TurnPorts } from "./turn_ports.ts";

type InputPorts = Omit<ContextPorts, "messages" | "history" | "chosen"> & Pick<RunnerPorts, "unattended">;

export class LoopPorts {
  readonly room: Room;
  readonly prefix = new Prefix();
  readonly #textCalls = new TextCalls();
  readonly #options: LoopOptions;
  readonly #models: LoopModels;

  constructor(options: LoopOptions, models: LoopModels) {
    this.#options = options;
    this.#models = models;
    this.room = new Room(options.config.compaction);
  }

  /** The inputs of a request in this mode. The list of tools stays as it was first sent. */
  inputs({ switches, offered, hasServers, oldModel, project, mode, scratch, unattended }: InputPorts) {
    const { environment } = this.#options;
    const { model, form, tools: all, brief } = this.#models.of(mode);
    const { name, small, oneByOne } = model;
    const list = [familyOf(name), form, ...small ? ["small"] : []].join(" ");
    const facts = { mode, small, form, thinks: !thinksNever(name), hasServers, switches };
    const isOld = oldModel !== undefined && familyOf(oldModel) === familyOf(name);
    const now = project();
    const tools = withSkillNames(small ? brief : all, now);
    const sent = offered.get(list) ??
      (isOld ? oldSpecs(tools, name, facts) : toolList(tools, facts).map(({ spec }) => spec));
    return {
      list,
      environment,
      model: name,
      small,
      oneByOne,
      isSubagent: unattended === true,
      tools: listNow(sent, tools, switches),
      project: now,
      scratch,
    };
  }

  /** The content of the next request. */
  context(ports: ContextPorts): ContextPage {
    const inputs = this.inputs(ports);
    const { mode, history } = ports;
    const { model } = this.#models.of(mode);
    const prompt = view(ports.messages(), mode, inputs);
    return {
      ...contextPage(outline(prompt, mode, inputs), ports, this.#models.offered),
      ...this.room.fill(prompt, { history, model }),
      ...this.prefix.broken,
    };
  }

  /** Whether any call of a turn with these ports may run. */
  hasTools(ports: InputPorts): boolean {
    const { mode, switches } = ports;
    return hasTools(this.inputs(ports).tools, mode, this.#models.of(mode).tools, switches);
  }

  /** Tools that are switched off apply from the next turn on. */
  of(ports: RunnerPorts): TurnPorts {
    const { config, summarizer, abilities } = this.#options;
    const { mode, workspace, switches } = ports;
    const { model } = this.#models.of(mode);
    return {
      ...ports,
      ...this.#requests(ports),
      model,
      summarizer,
      room: this.room,
      textCalls: this.#textCalls,
      inMode: (other) => {
        const { model, effort, toolSet } = mode;
        return this.of({ ...ports, mode: narrowed({ ...other, ...defined({ model, effort, toolSet }) }) });
      },
      decide: (access, granted, tools) => againstMode(access, mode) ?? ports.decide(access, granted, tools),
      context: {
        workspace,
        session: ports.state,
        access: mode.access,
        ...abilities,
        ...(abilities.skills === undefined
          ? {}
          : { skills: sessionSkills(abilities.skills, ports.messages) }),
        ...(abilities.mcp === undefined ? {} : { mcp: enabledMcp(abilities.mcp, switches) }),
        agents: ports.agents,
      },
      hooks: turnHooks(abilities),
      tried: (edit) => ports.meter.tried(edit, model),
      claimsChange: async (request, answer, signal) => {
        if (ports.meter.spending.reached() !== undefined) return false;
        const count = (measured: Measured) => ports.meter.count(measured, MODES.claim, [], { model });
        const { environment } = this.#options;
        return await claimsChange(request, answer, { model, environment, count }, signal);
      },
      checks: abilities.languages && new WriteChecks(abilities.languages, workspace),
      maxIterations: mode.limits.iterations ?? config.max_iterations,
    };
  }

  /** Ports that build requests and know their tools. */
  #requests(ports: RunnerPorts) {
    let inputs = this.inputs(ports);
    const { mode, switches } = ports;
    const { model, tools: all } = this.#models.of(mode);
    const callable = () => {
      const { tools, brief } = this.#models.of(mode);
      const now = inputs.small ? brief : tools;
      // A call of a server's tool that is off is refused as such: the model may know its name from earlier notes.
      return [...now, ...goneTools(inputs.tools, now)].filter((tool) =>
        isMcpName(tool.name) || !switches.isOff(tool)
      );
    };
    const tools = callable().filter((tool) => !switches.isOff(tool));
    const now = () => ({ ...inputs, project: ports.project() });
    return {
      tools,
      callable,
      view: (row, more = []) => view([...ports.messages(), ...more], within(row, mode), now()),
      listed: () => inputs.tools.map(({ name }) => name),
      missingTools: () => missingTools(mode, inputs.tools, tools),
      modeText: () => modeText(mode, now()),
      refusalOf: (tool, args) => refusalOf(tool, args, mode, all, switches),
      shortened: () => {
        const before = inputs.small;
        inputs = this.inputs(ports);
        return inputs.small && !before;
      },
      sent: (prompt) => {
        if (prompt.tools.length > 0) ports.offered.set(inputs.list, inputs.tools);
        this.prefix.note(prompt, causesOf(ports, model.name), model.price);
      },
    } satisfies Partial<TurnPorts>;
  }
}
