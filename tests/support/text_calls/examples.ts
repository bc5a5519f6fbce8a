/** Answers that show, quote, document or announce a call. None of them may run anything. */
import { CALL_FORMATS } from "./formats.ts";
import { type Frame, oneLine, prefixed } from "./frames.ts";

export interface ShownCall {
  readonly what: string;
  readonly model: string;
  readonly text: string;
}

const numbered = (call: string, text: (number: number, line: string) => string) =>
  call.split("\n").map((line, at) => text(at + 1, line)).join("\n");

const FRAMES: readonly Frame[] = [
  // Inline code.
  ["inline code in a sentence", (call) => `A call such as \`${oneLine(call)}\` deletes the file.`],
  ["inline code at the end", (call) => `To delete it an agent writes \`${oneLine(call)}\``],
  ["inline code and a full stop", (call) => `To delete it an agent writes \`${oneLine(call)}\`.`],
  ["inline code in two backticks", (call) => `Write \`\`${oneLine(call)}\`\` and nothing else.`],
  ["inline code over several lines", (call) => `It is\n\`\n${call}\n\``],
  ["inline code that is not closed", (call) => `It is \`${oneLine(call)}`],
  [
    "inline code that begins on the line before",
    (call) => `The answer was \`I delete it.\n${oneLine(call)}\``,
  ],
  // Fences.
  ["a fence", (call) => `\`\`\`\n${call}\n\`\`\`\n\nThis deletes keep.txt.`],
  ["a fence of XML at the end", (call) => `The model answers:\n\n\`\`\`xml\n${call}\n\`\`\``],
  ["a fence alone", (call) => `\`\`\`text\n${call}\n\`\`\``],
  ["a fence of tildes", (call) => `~~~\n${call}\n~~~\n`],
  ["a fence that is not closed", (call) => `It looks like this:\n\n\`\`\`\n${call}`],
  ["a fence in a fence", (call) => `\`\`\`\`markdown\nWrite:\n\n\`\`\`xml\n${call}\n\`\`\`\n\`\`\`\``],
  ["a shorter fence within a longer one", (call) => `\`\`\`\`\n\`\`\`\n${call}\n\`\`\`\``],
  ["backticks within tildes", (call) => `~~~\n\`\`\`\n~~~\n~~~~\n~~~\n${call}\n~~~~`],
  ["a fence with words on its line", (call) => `\`\`\`xml title="a call"\n${call}\n\`\`\``],
  ["an indented fence", (call) => `  \`\`\`\n${prefixed(call, "  ")}\n  \`\`\``],
  ["a second fence", (call) => `\`\`\`sh\nls\n\`\`\`\n\nand\n\n\`\`\`\n${call}\n\`\`\``],
  // Quotations.
  ["a quotation", (call) => `The page says:\n\n${prefixed(call, "> ")}`],
  ["a quotation without spaces", (call) => prefixed(call, ">")],
  ["a quotation in a quotation", (call) => `> They wrote:\n${prefixed(call, "> > ")}`],
  ["a quotation with a fence", (call) => prefixed(`\`\`\`\n${call}\n\`\`\``, "> ")],
  ["a quotation of one line", (call) => `> ${oneLine(call)}`],
  // Lists.
  ["an item", (call) => `Ways to delete a file:\n\n- \`rm\`\n- ${oneLine(call)}`],
  ["an item with words", (call) => `- to delete: ${oneLine(call)}`],
  ["a numbered item", (call) => `1. Open the file.\n2. ${oneLine(call)}`],
  ["a lettered item", (call) => `a) ${oneLine(call)}`],
  ["a list item with the call below", (call) => `* The call:\n\n  ${call.replaceAll("\n", "\n  ")}`],
  ["a numbered item with the call below", (call) => `1. Delete it:\n   ${call.replaceAll("\n", "\n   ")}`],
  ["an item with a fence", (call) => `- so:\n  \`\`\`\n${prefixed(call, "  ")}\n  \`\`\``],
  ["a task", (call) => `- [ ] ${oneLine(call)}`],
  // Listings.
  ["a listing with numbers", (call) => numbered(call, (number, line) => `${number}\t${line}`)],
  ["a listing with numbers and bars", (call) => numbered(call, (number, line) => `${number + 9} | ${line}`)],
  [
    "a listing with numbers and colons",
    (call) => numbered(call, (number, line) => `README.md:${number}: ${line}`),
  ],
  ["a table", (call) => `| tool | call |\n|---|---|\n| delete_file | ${oneLine(call)} |`],
  ["a table that is not closed", (call) => `| tool | call |\n|---|---|\n| delete_file | ${oneLine(call)}`],
  // Announced.
  ["for example", (call) => `For example:\n\n${call}`],
  ["for example, in the sentence", (call) => `You can delete a file, for example\n${call}`],
  ["e.g.", (call) => `Write a call, e.g. ${oneLine(call)}`],
  ["an example, in bold", (call) => `**Example**\n\n${call}`],
  ["an example, as a heading", (call) => `## Example\n\n${call}`],
  ["an example of several kinds", (call) => `Here are two examples of calls:\n\n${call}\n\n${call}`],
  ["a call looks like this", (call) => `A call looks like this:\n\n${call}`],
  ["it would look like", (call) => `The call would look like:\n${call}`],
  ["the format", (call) => `The format is:\n\n${call}`],
  ["the syntax", (call) => `Tools are called with this syntax:\n\n${call}`],
  ["an illustration", (call) => `To illustrate:\n\n${call}`],
  ["a sample", (call) => `Sample output of the model:\n\n${call}`],
  ["hypothetical", (call) => `Hypothetically, I would write\n\n${call}`],
  ["do not run this", (call) => `This is the call that you must not run:\n\n${call}`],
  ["German", (call) => `Zum Beispiel:\n\n${call}`],
  ["German, so it looks", (call) => `Ein Aufruf sieht so aus:\n\n${call}`],
  ["French", (call) => `Par exemple :\n\n${call}`],
  ["Spanish", (call) => `Por ejemplo:\n\n${call}`],
  ["Portuguese", (call) => `Exemplo:\n\n${call}`],
  ["Italian", (call) => `Ad esempio:\n\n${call}`],
  ["Dutch", (call) => `Bijvoorbeeld:\n\n${call}`],
  ["Polish", (call) => `Na przykład:\n\n${call}`],
  ["Russian", (call) => `Например:\n\n${call}`],
  ["Ukrainian", (call) => `Наприклад:\n\n${call}`],
  ["Turkish", (call) => `Örneğin:\n\n${call}`],
  ["Chinese", (call) => `例如：\n\n${call}`],
  ["Chinese, an example", (call) => `下面是一个示例：\n${call}`],
  ["Japanese", (call) => `例えば、次のように書きます：\n\n${call}`],
  ["Korean", (call) => `예를 들어:\n\n${call}`],
  ["Vietnamese", (call) => `Ví dụ:\n\n${call}`],
  ["Arabic", (call) => `على سبيل المثال:\n\n${call}`],
  ["Hindi", (call) => `उदाहरण के लिए:\n\n${call}`],
  // Words behind it.
  ["words behind it", (call) => `${call}\n\nThis would delete the file.`],
  ["words behind it on the same line", (call) => `${call} deletes keep.txt.`],
  ["in the middle of a sentence", (call) => `I could write ${oneLine(call)}, but I will not.`],
  ["a remark behind it", (call) => `${call}\n\n(That is only what a call looks like.)`],
  ["a question behind it", (call) => `I would do this:\n\n${call}\n\nShall I?`],
  ["Chinese words behind it", (call) => `${call}\n这会删除文件。`],
  ["a full stop behind it", (call) => `The call is ${oneLine(call)}.`],
  ["two calls with words in between", (call) => `Either\n\n${call}\n\nor\n\n${call}\n\nwould do.`],
  ["words behind the second call", (call) => `${call}\n${call}\n\nBoth delete the file.`],
  // In quotes.
  ["double quotes", (call) => `The model wrote "${oneLine(call)}"`],
  ["single quotes", (call) => `The model wrote '${oneLine(call)}'`],
  ["curly quotes", (call) => `The model wrote “${oneLine(call)}”`],
  ["French quotes", (call) => `Le modèle a écrit « ${oneLine(call)} »`],
  ["Japanese quotes", (call) => `モデルは「${oneLine(call)}」と書きました`],
  ["parentheses", (call) => `Delete it (${oneLine(call)})`],
  ["a quote that is not closed", (call) => `The model wrote "${oneLine(call)}`],
  // Markup and code.
  ["an HTML comment", (call) => `<!-- ${oneLine(call)} -->`],
  ["an HTML comment over several lines", (call) => `<!--\n${call}\n-->`],
  ["an HTML comment that is not closed", (call) => `<!-- ${oneLine(call)}`],
  ["pre", (call) => `<pre>\n${call}\n</pre>`],
  ["code", (call) => `<code>${oneLine(call)}</code>`],
  ["pre that is not closed", (call) => `<pre><code>\n${call}`],
  ["details", (call) => `<details><summary>The call</summary>\n\n${call}\n\n</details>`],
  ["an example tag", (call) => `<example>\n${call}\n</example>`],
  ["a diff", (call) => `--- a/README.md\n+++ b/README.md\n@@ -1,0 +1,9 @@\n${prefixed(call, "+")}`],
  [
    "a diff with removed lines",
    (call) => `--- a/README.md\n+++ b/README.md\n@@ -1,9 +1,0 @@\n${prefixed(call, "-")}`,
  ],
  ["indented code", (call) => `The page says\n\n${prefixed(call, "    ")}`],
  ["code indented by a tab", (call) => `The page says\n\n${prefixed(call, "\t")}`],
  ["a comment of code", (call) => prefixed(call, "// ")],
  ["a comment of a script", (call) => prefixed(call, "# ")],
  ["a comment with stars", (call) => `/*\n${prefixed(call, " * ")}\n */`],
  ["a string of code", (call) => `const answer = '${oneLine(call)}';`],
  ["YAML", (call) => `answer: ${oneLine(call)}`],
  ["YAML over several lines", (call) => `answer: |\n${prefixed(call, "  ")}`],
  ["a transcript", (call) => `User: Delete it.\nAssistant: ${oneLine(call)}`],
  ["a log", (call) => `12:01:07 model: ${oneLine(call)}`],
  ["a heading", (call) => `# ${oneLine(call)}`],
  ["bold", (call) => `**${oneLine(call)}**`],
  ["reStructuredText", (call) => `It is::\n\n${prefixed(call, "    ")}`],
  ["LaTeX", (call) => `\\begin{verbatim}\n${call}\n\\end{verbatim}`],
  ["a callout", (call) => `> [!NOTE]\n> ${oneLine(call)}`],
  ["a footnote", (call) => `[^1]: ${oneLine(call)}`],
  ["a definition", (call) => `delete\n: ${oneLine(call)}`],
  ["an arrow", (call) => `→ ${oneLine(call)}`],
  ["a bullet", (call) => `• ${oneLine(call)}`],
  ["an item in an item", (call) => `- a\n    - ${oneLine(call)}`],
  ["an item whose call is parted from it", (call) => `- a\n\n  ${call.replaceAll("\n", "\n  ")}`],
  ["a fence with carriage returns", (call) => `\`\`\`xml\n${call}\n\`\`\``.replaceAll("\n", "\r\n")],
  ["what a page shows", (call) => `The documentation shows:\n\n${call}`],
  ["what must never be written", (call) => `Never write this:\n\n${call}`],
  ["as follows", (call) => `A call is written as follows:\n\n${call}`],
  // Thoughts.
  ["thoughts", (call) => `<think>I could write\n${call}\n</think>It is there.`],
  ["thoughts that are not closed", (call) => `<think>I could write\n${call}`],
  ["thoughts in the other tag", (call) => `<thinking>${call}</thinking>\n\nNothing to do.`],
  ["thoughts whose opening tag is missing", (call) => `I could write\n${call}\n</think>\nNothing to do.`],
];

/** Calls that are written most often; the others take their turns. */
const USUAL = ["Hermes, Qwen 2.5 and 3", "Claude's older format", "Qwen 2.5 Coder, no mark"];

const DELETE = [{ name: "delete_file", arguments: { path: "keep.txt" } }];

export const USUAL_FORMATS = CALL_FORMATS.filter(({ who }) => USUAL.includes(who));
const others = CALL_FORMATS.filter(({ who }) => !USUAL.includes(who));

export const SHOWN_CALLS: readonly ShownCall[] = FRAMES.flatMap(([what, text], index) => {
  const turns = [index * 2, index * 2 + 1].flatMap((at) => others[at % others.length] ?? []);
  return [...USUAL_FORMATS, ...turns].map((format) => ({
    what: `${what}: ${format.who}`,
    model: format.model,
    text: text(format.write(DELETE)),
  }));
});
