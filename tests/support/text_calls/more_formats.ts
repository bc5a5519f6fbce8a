/** The other formats of `formats.ts`. */
import type { CallFormat } from "./writers.ts";
import {
  channel,
  cohere,
  each,
  inside,
  invoke,
  keysAndValues,
  kimiK3,
  lines,
  list,
  miniCpm,
  MINIMAX,
  minimaxM3,
  named,
  parameters,
  pretty,
  withParameters,
} from "./writers.ts";
import { compact, gemma, raw, spaced } from "./values.ts";

export const MORE_FORMATS: readonly CallFormat[] = [
  {
    who: "GLM 4.5 and 4.6, HyperCLOVA X",
    model: "glm-4.5-air",
    write: each("\n", (call) => lines(`<tool_call>${call.name}`, keysAndValues("\n")(call), "</tool_call>")),
    stop: "<|observation|>",
  },
  {
    who: "GLM 4.7 and 5",
    model: "glm-5",
    write: each("", (call) => `<tool_call>${call.name}${keysAndValues("")(call)}</tool_call>`),
    loose: each("\n", (call) => `<tool_call> ${call.name} ${keysAndValues(" ")(call)} </tool_call>`),
    stop: "<|observation|>",
  },
  {
    who: "Hunyuan 3",
    model: "hy3-preview",
    write: inside(
      "<tool_calls>\n",
      "\n</tool_calls>",
      each(
        "\n",
        (call) => lines(`<tool_call>${call.name}<tool_sep>`, keysAndValues("\n")(call), "</tool_call>"),
      ),
    ),
    stop: "<|eos|>",
  },
  {
    who: "K2 Horizon",
    model: "k2-horizon",
    write: inside(
      "<ifm|tool_calls>\n",
      "\n</ifm|tool_calls>",
      each(
        "\n",
        (call) => lines(`<ifm|tool_call>${call.name}`, keysAndValues("\n", "ifm|")(call), "</ifm|tool_call>"),
      ),
    ),
    stop: "<|endoftext|>",
  },
  {
    who: "Kimi K2",
    model: "kimi-k2-instruct",
    write: inside(
      "<|tool_calls_section_begin|>",
      "<|tool_calls_section_end|>",
      each(
        "",
        ({ name, arguments: args }, index) =>
          `<|tool_call_begin|>functions.${name}:${index}<|tool_call_argument_begin|>${
            compact(args)
          }<|tool_call_end|>`,
      ),
    ),
    loose: inside(
      "<|tool_calls_section_begin|>\n",
      "\n<|tool_calls_section_end|>",
      each(
        "\n",
        ({ name, arguments: args }, index) =>
          `<|tool_call_begin|> functions.${name}:${index} <|tool_call_argument_begin|> ${
            spaced(args)
          } <|tool_call_end|>`,
      ),
    ),
    stop: "<|im_end|>",
  },
  {
    who: "Kimi K3",
    model: "kimi-k3",
    write: inside("<|open|>tools<|sep|>", "<|close|>tools<|sep|>", each("", kimiK3)),
    think: (thought) => `${thought}<|close|>think<|sep|><|open|>response<|sep|><|close|>response<|sep|>`,
    say: (words) => `<|open|>response<|sep|>${words}<|close|>response<|sep|>`,
    stop: "<|close|>message<|sep|><|end_of_msg|>",
  },
  {
    who: "Kimi K3 with arguments as JSON",
    model: "kimi-k3-turbo",
    write: inside(
      "<|open|>tools<|sep|>",
      "<|close|>tools<|sep|>",
      each(
        "",
        ({ name, arguments: args }, index) =>
          `<|open|>call tool="${name}" index="${index + 1}"<|sep|><|open|>json type="object"<|sep|>${
            compact(args)
          }` +
          "<|close|>json<|sep|><|close|>call<|sep|>",
      ),
    ),
    say: (words) => `<|open|>response<|sep|>${words}<|close|>response<|sep|>`,
    stop: "<|close|>message<|sep|>",
  },
  {
    who: "gpt-oss",
    model: "gpt-oss-120b",
    write: each(
      "",
      ({ name, arguments: args }) =>
        `<|start|>assistant<|channel|>commentary to=functions.${name} <|constrain|>json<|message|>${
          compact(args)
        }<|call|>`,
    ),
    think: (thought) => channel("analysis", thought),
    say: (words) => channel("commentary", words),
    stop: "<|end|>",
  },
  {
    who: "gpt-oss, the recipient first",
    model: "gpt-oss:20b",
    write: each(
      "",
      ({ name, arguments: args }) =>
        `<|start|>assistant to=functions.${name}<|channel|>commentary json<|message|>${spaced(args)}<|call|>`,
    ),
    think: (thought) => channel("analysis", thought),
    say: (words) => channel("commentary", words),
    stop: "<|end|>",
  },
  {
    who: "MiniMax M2",
    model: "minimax-m2",
    write: inside("<minimax:tool_call>\n", "\n</minimax:tool_call>", each("\n", invoke(""))),
    stop: "[e~[",
  },
  {
    who: "MiniMax M3",
    model: "minimax-m3",
    write: inside(`${MINIMAX}<tool_call>\n`, `\n${MINIMAX}</tool_call>`, each("\n", minimaxM3)),
    think: (thought) => `<mm:think>${thought}</mm:think>`,
    stop: "[e~[",
  },
  {
    who: "Claude's older format",
    model: "claude-3-opus",
    write: inside("<function_calls>\n", "\n</function_calls>", each("\n", invoke(""))),
    stop: "",
  },
  {
    who: "dots",
    model: "dots.llm2",
    write: inside("<dots_function_call>\n", "\n</dots_function_call>", each("\n", invoke(""))),
    stop: "<|endofresponse|>",
  },
  {
    who: "Muse",
    model: "muse-glimmer",
    write: inside(
      "<atem:function_calls>\n",
      "\n</atem:function_calls>",
      each("\n", invoke("atem:")),
    ),
    stop: "<|eot|>",
  },
  {
    who: "Muse with the frame of its messages",
    model: "muse-glimmer-mini",
    write: ([call, ...others]) =>
      `<|start|>assistant to=functions.${call?.name}<|message|><atem:function_calls>\n` +
      `${
        [call, ...others].flatMap((one) => one ? [invoke("atem:")(one)] : []).join("\n")
      }\n</atem:function_calls><|eom|>`,
    think: (thought) => `to=self<|message|>${thought}<|eom|>`,
    say: (words) => `to=user<|message|>${words}<|eom|>`,
    stop: "<|eot|>",
  },
  {
    who: "Step 3",
    model: "step3",
    write: inside(
      "<｜tool_calls_begin｜>\n",
      "\n<｜tool_calls_end｜>",
      each(
        "\n",
        (call) => `<｜tool_call_begin｜>function<｜tool_sep｜>${invoke("steptml:")(call)}<｜tool_call_end｜>`,
      ),
    ),
    stop: "<|EOT|>",
  },
  { who: "MiniCPM5", model: "minicpm5-8b", write: each("\n", miniCpm), stop: "<|im_end|>" },
  {
    who: "Command R",
    model: "command-r-plus",
    write: (calls) =>
      `Action: \`\`\`json\n${
        pretty(calls.map(({ name, arguments: args }) => ({ tool_name: name, parameters: args })))
      }\n\`\`\``,
    stop: "<|END_OF_TURN_TOKEN|>",
  },
  {
    who: "Command R7B, Command A",
    model: "command-a-03-2025",
    write: inside("<|START_ACTION|>", "<|END_ACTION|>", cohere),
    think: (thought) => `<|START_THINKING|>${thought}<|END_THINKING|>`,
    say: (words) => `<|START_TEXT|>${words}<|END_TEXT|>`,
    stop: "<|END_OF_TURN_TOKEN|>",
  },
  {
    who: "Functionary v3.2",
    model: "functionary-small-v3.2",
    write: each("", ({ name, arguments: args }) => `>>>${name}\n${spaced(args)}`),
    say: (words) => `>>>all\n${words}`,
    stop: "<|eot_id|>",
  },
  {
    who: "Apertus",
    model: "apertus-8b-instruct",
    write: inside(
      "<|tools_prefix|>",
      "<|tools_suffix|>",
      (calls) => spaced(calls.map(({ name, arguments: args }) => ({ [name]: args }))),
    ),
    think: (thought) => `<|inner_prefix|>${thought}<|inner_suffix|>`,
    stop: "<|assistant_end|>",
  },
  {
    who: "Gemma 4",
    model: "gemma-4-31b-it",
    write: each(
      "",
      ({ name, arguments: args }) => `<|tool_call>call:${name}${gemma(args, '<|"|>')}<tool_call|>`,
    ),
    think: (thought) => `<|channel>thought\n${thought}<channel|>`,
    stop: "<turn|>",
  },
  {
    who: "FunctionGemma",
    model: "functiongemma-270m",
    write: each(
      "",
      ({ name, arguments: args }) =>
        `<start_function_call>call:${name}${gemma(args, "<escape>")}<end_function_call>`,
    ),
    stop: "<end_of_turn>",
  },
  {
    who: "InternLM 2",
    model: "internlm2_5-7b-chat",
    write: inside(
      "<|action_start|><|plugin|>\n",
      "<|action_end|>",
      each("", (call) => spaced(withParameters(call))),
    ),
    hasOneCall: true,
    stop: "<|im_end|>",
  },
  {
    who: "Inkling",
    model: "inkling",
    write: each(
      "",
      ({ name, arguments: args }) =>
        `<|message_model|>${name}<|content_invoke_tool_json|>${spaced({ name, args })}<|end_message|>`,
    ),
    stop: "<|content_model_end_sampling|>",
  },
  {
    who: "Solar Open 2",
    model: "solar-open2-100b",
    write: each("\n", (call) =>
      lines(
        `<|tool_call:start|>${call.name}`,
        parameters(
          call,
          (key, value) => `<|tool_arg:start|>${key}<|tool_arg:value|>${raw(value)}<|tool_arg:end|>`,
        ),
        "<|tool_call:end|>",
      )),
    stop: "<|im:end|>",
  },
  {
    who: "xLAM",
    model: "xlam-2-8b-fc-r",
    write: list,
    loose: (calls) => pretty(calls.map(named)),
    stop: "<|eot_id|>",
  },
  {
    who: "LM Studio for models without a template",
    model: "some-model@lmstudio",
    write: each("\n", (call) => `[TOOL_REQUEST]${spaced(named(call))}[END_TOOL_REQUEST]`),
    loose: each("\n", (call) => `[TOOL_REQUEST]\n${pretty(named(call))}\n[END_TOOL_REQUEST]`),
    stop: "",
  },
  {
    who: "Cline's format",
    model: "unknown-model",
    write: each("\n\n", (call) =>
      lines(
        `<${call.name}>`,
        parameters(call, (key, value) => {
          const text = raw(value);
          return text.includes("\n") ? `<${key}>\n${text}\n</${key}>` : `<${key}>${text}</${key}>`;
        }),
        `</${call.name}>`,
      )),
    stop: "",
  },
  {
    who: "Qwen 2.5 Coder, no mark",
    model: "qwen2.5-coder:7b",
    write: each("\n", (call) => spaced(named(call))),
    loose: each("\n\n", (call) => pretty(named(call))),
    stop: "<|im_end|>",
  },
  {
    who: "ReAct",
    model: "qwen-7b-chat",
    write: each("", ({ name, arguments: args }) => `Action: ${name}\nAction Input: ${spaced(args)}`),
    loose: each("", ({ name, arguments: args }) => `Action: ${name}\nAction Input:\n${pretty(args)}\n`),
    hasOneCall: true,
    stop: "<|im_end|>",
  },
];
