/**
 * How models write calls into their text, by the public descriptions of them: chat templates,
 * vendors' documentation, and the tool parsers of vLLM, SGLang and llama.cpp.
 */
import { MORE_FORMATS } from "./more_formats.ts";
import type { CallFormat } from "./writers.ts";
import {
  each,
  inside,
  invoke,
  isText,
  list,
  named,
  pretty,
  pythonic,
  tagged,
  withParameters,
} from "./writers.ts";
import { jinja, raw, spaced } from "./values.ts";

export const CALL_FORMATS: readonly CallFormat[] = [
  {
    who: "Hermes, Qwen 2.5 and 3",
    model: "qwen3-30b-a3b",
    write: each("\n", (call) => `<tool_call>\n${spaced(named(call))}\n</tool_call>`),
    loose: each("\n\n", (call) => `<tool_call>\n\n${pretty(named(call))}\n\n</tool_call>`),
    stop: "<|im_end|>",
  },
  {
    who: "Qwen3-Coder, Nemotron 3, Step 3.5, MiMo",
    model: "qwen3-coder-30b",
    write: each("\n", (call) => `<tool_call>\n${tagged(jinja, "\n")(call)}\n</tool_call>`),
    loose: each("\n\n", (call) => `<tool_call>\n  ${tagged(raw, "\n")(call)}\n  </tool_call>`),
    stop: "<|im_end|>",
  },
  {
    who: "Qwen3-Coder without the outer tag",
    model: "qwen3-coder:30b",
    write: each("\n", (call) => `${tagged(raw, "\n")(call)}\n</tool_call>`),
    stop: "<|im_end|>",
  },
  {
    who: "Seed-OSS",
    model: "seed-oss-36b-instruct",
    write: each("\n", (call) => `<seed:tool_call>\n${tagged(raw, "")(call)}\n</seed:tool_call>`),
    think: (thought) => `<seed:think>\n${thought}\n</seed:think>\n`,
    stop: "<seed:eos>",
  },
  {
    who: "Mistral 7B to Small 3.1",
    model: "mistral-small3.1",
    write: inside("[TOOL_CALLS]", "", list),
    loose: inside("[TOOL_CALLS] ", "", (calls) => pretty(calls.map(named))),
    stop: "</s>",
  },
  {
    who: "Mistral with ids in the objects",
    model: "mistral-nemo",
    write: inside(
      "[TOOL_CALLS] ",
      "",
      (calls) => spaced(calls.map((call, index) => ({ ...named(call), id: `abcdefgh${index}` }))),
    ),
    stop: "</s>",
  },
  {
    who: "Mistral from tokenizer 11 on",
    model: "mistral-small-3.2-24b",
    write: each("", ({ name, arguments: args }) => `[TOOL_CALLS]${name}[ARGS]${spaced(args)}`),
    think: (thought) => `[THINK]${thought}[/THINK]`,
    stop: "</s>",
  },
  {
    who: "Devstral with ids",
    model: "devstral-small-2507",
    write: each(
      "",
      ({ name, arguments: args }, index) =>
        `[TOOL_CALLS]${name}[CALL_ID]ab3de6gh${index}[ARGS]${spaced(args)}`,
    ),
    stop: "</s>",
  },
  {
    who: "Llama 3.1 and 3.3",
    model: "llama3.3:70b",
    write: each("; ", (call) => spaced(withParameters(call))),
    loose: each(";\n", (call) => pretty(withParameters(call))),
    stop: "<|eot_id|>",
  },
  {
    who: "Llama 3.1 with its mark",
    model: "llama-3.1-70b-instruct",
    write: inside("<|python_tag|>", "", each("; ", (call) => spaced(withParameters(call)))),
    stop: "<|eom_id|>",
  },
  {
    who: "Llama 3.1 with function tags",
    model: "meta-llama-3.1-8b-instruct",
    write: each("", ({ name, arguments: args }) => `<function=${name}>${spaced(args)}</function>`),
    loose: each("\n", ({ name, arguments: args }) => `<function=${name}>\n${pretty(args)}\n</function>`),
    stop: "<|eom_id|>",
  },
  {
    who: "Llama 4",
    model: "llama-4-scout",
    write: inside("<|python_start|>[", "]<|python_end|>", each(", ", pythonic)),
    loose: inside("<|python_start|>[\n  ", "\n]<|python_end|>", each(",\n  ", pythonic)),
    stop: "<|eot|>",
  },
  {
    who: "Llama 3.2",
    model: "llama3.2:3b",
    write: inside("[", "]", each(", ", pythonic)),
    stop: "<|eot_id|>",
  },
  {
    who: "LFM2",
    model: "lfm2-8b-a1b",
    write: inside("<|tool_call_start|>[", "]<|tool_call_end|>", each(", ", pythonic)),
    stop: "<|im_end|>",
  },
  {
    who: "OLMo 3",
    model: "olmo-3-32b-think",
    write: inside("<function_calls>\n", "\n</function_calls>", each("\n", pythonic)),
    loose: inside("<function_calls>", "</function_calls>", each("\n", pythonic)),
    stop: "<|im_end|>",
  },
  {
    who: "DeepSeek R1 and V3",
    model: "deepseek-r1",
    write: inside(
      "<｜tool▁calls▁begin｜>",
      "<｜tool▁calls▁end｜>",
      each(
        "\n",
        ({ name, arguments: args }) =>
          `<｜tool▁call▁begin｜>function<｜tool▁sep｜>${name}\n\`\`\`json\n${
            spaced(args)
          }\n\`\`\`<｜tool▁call▁end｜>`,
      ),
    ),
    loose: inside(
      "<｜tool▁calls▁begin｜>\n",
      "\n<｜tool▁calls▁end｜>",
      each(
        "\n",
        ({ name, arguments: args }) =>
          `<｜tool▁call▁begin｜>function<｜tool▁sep｜>${name}\n\`\`\`json\n${
            pretty(args)
          }\n\`\`\`\n<｜tool▁call▁end｜>`,
      ),
    ),
    stop: "<｜end▁of▁sentence｜>",
  },
  {
    who: "DeepSeek V3.1",
    model: "deepseek-v3.1",
    write: inside(
      "<｜tool▁calls▁begin｜>",
      "<｜tool▁calls▁end｜>",
      each(
        "",
        ({ name, arguments: args }) =>
          `<｜tool▁call▁begin｜>${name}<｜tool▁sep｜>${spaced(args)}<｜tool▁call▁end｜>`,
      ),
    ),
    stop: "<｜end▁of▁sentence｜>",
  },
  {
    who: "DeepSeek V3.2",
    model: "deepseek-v3.2",
    write: inside(
      "<｜DSML｜function_calls>\n",
      "\n</｜DSML｜function_calls>",
      each("\n", invoke("｜DSML｜", isText)),
    ),
    stop: "<｜end▁of▁sentence｜>",
  },
  {
    who: "DeepSeek V4",
    model: "deepseek-v4",
    write: inside(
      "<｜DSML｜tool_calls>\n",
      "\n</｜DSML｜tool_calls>",
      each("\n", invoke("｜DSML｜", isText)),
    ),
    stop: "<｜end▁of▁sentence｜>",
  },
  {
    who: "GigaChat 3",
    model: "gigachat3-10b-a1.8b",
    write: inside("function call<|role_sep|>\n", "", each("", (call) => spaced(named(call)))),
    hasOneCall: true,
    say: (words) => `${words}<|message_sep|>\n\n`,
    stop: "<|message_sep|>\n\n",
  },
  {
    who: "GigaChat 3.1",
    model: "gigachat3.1-10b",
    write: inside("<|function_call|>", "", each("", (call) => spaced(named(call)))),
    hasOneCall: true,
    stop: "</s>",
  },
  {
    who: "GigaChat 3.5",
    model: "gigachat3.5",
    write: inside(
      "<｜GCML｜tool_calls>\n",
      "\n</｜GCML｜tool_calls>",
      each("\n", invoke("｜GCML｜", isText)),
    ),
    stop: "</s>",
  },
  {
    who: "Granite 3",
    model: "granite3.3:8b",
    write: inside("<|tool_call|>", "", list),
    loose: inside("<|tool_call|> ", "\n", (calls) => pretty(calls.map(named))),
    stop: "<|end_of_text|>",
  },
  {
    who: "Granite 3.1",
    model: "granite3.1-dense",
    write: inside("<tool_call>", "", list),
    stop: "<|end_of_text|>",
  },
  {
    who: "Granite 20B",
    model: "granite-20b-functioncalling",
    write: each("\n", (call) => `<function_call> ${spaced(named(call))}`),
    stop: "<|endoftext|>",
  },
  {
    who: "Phi-4 mini",
    model: "phi4-mini",
    write: inside("<|tool_call|>", "<|/tool_call|>", list),
    stop: "<|end|>",
  },
  {
    who: "Phi-4 mini on vLLM, Firefunction",
    model: "firefunction-v2",
    write: inside("functools", "", list),
    stop: "<|eot_id|>",
  },
  {
    who: "Nemotron Nano 2",
    model: "nvidia-nemotron-nano-9b-v2",
    write: inside("<TOOLCALL>", "</TOOLCALL>", list),
    loose: inside("<TOOLCALL>\n", "\n</TOOLCALL>", (calls) => pretty(calls.map(named))),
    stop: "<SPECIAL_12>",
  },
  {
    who: "Jamba, Hunyuan A13B, Apriel",
    model: "hunyuan-a13b-instruct",
    write: inside("<tool_calls>", "</tool_calls>", list),
    loose: inside("<tool_calls>\n", "\n</tool_calls>", (calls) => pretty(calls.map(named))),
    stop: "<|endoftext|>",
  },
  {
    who: "MiniMax M1",
    model: "minimax-m1",
    write: inside("<tool_calls>\n", "\n</tool_calls>", each("\n", (call) => spaced(named(call)))),
    stop: "<end_of_sentence>",
  },
  {
    who: "LongCat",
    model: "longcat-flash-chat",
    write: each("\n", (call) => `<longcat_tool_call>\n${spaced(named(call))}\n</longcat_tool_call>`),
    think: (thought) => `<longcat_think>\n${thought}\n</longcat_think>\n`,
    stop: "</longcat_s>",
  },
  ...MORE_FORMATS,
];
