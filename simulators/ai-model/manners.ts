/**
 * How real models and their servers dress a reply. Each manner takes the reply that the prompt asks for and returns
 * what arrives instead; a person reads both alike.
 */

const THOUGHT = 'Two items. Perhaps\nHustleScore: 3/10\nor {"score": 4, "feedback": "Not that much was done."}? No.';

/** Manners of any reply: thoughts in the text, and tokens of the chat template that a server did not remove. */
export const REPLY_MANNERS: Readonly<Record<string, (reply: string) => string>> = {
  plain: (reply) => reply,
  'a byte order mark': (reply) => `\ufeff${reply}`,
  'blank lines around': (reply) => `\r\n\n ${reply}\r\n\n`,
  'a thought (DeepSeek, Qwen)': (reply) => `<think>\n${THOUGHT}\n</think>\n\n${reply}`,
  'an empty thought': (reply) => `<think>\n\n</think>\n\n${reply}`,
  'a thought without its opening tag': (reply) => `Okay, a log. Two items, so a seven.\n</think>\n\n${reply}`,
  'a thought in capitals': (reply) => `<THINKING time="5 s">${THOUGHT}</THINKING>${reply}`,
  'a thought that names its tags': (reply) => `<think>The <think> tag ends here. ${THOUGHT}</think>\n${reply}`,
  'two thoughts': (reply) => `<think>${THOUGHT}</think>\n<reflection>${THOUGHT}</reflection>\n${reply}`,
  'a thought (Gemini over an OpenAI-compatible endpoint)': (reply) => `<thought>${THOUGHT}</thought>${reply}`,
  'a thought (Seed)': (reply) => `<seed:think>${THOUGHT}</seed:think>${reply}`,
  'a thought (Mistral)': (reply) => `[THINK]${THOUGHT}[/THINK]${reply}`,
  'a thought (Kimi)': (reply) => `◁think▷${THOUGHT}◁/think▷${reply}`,
  'a thought (Cohere)': (reply) =>
    `<|START_THINKING|>${THOUGHT}<|END_THINKING|><|START_RESPONSE|>${reply}<|END_RESPONSE|>`,
  'a thought (OpenThinker)': (reply) =>
    `<|begin_of_thought|>\n\n${THOUGHT}\n\n<|end_of_thought|>\n\n<|begin_of_solution|>\n\n${reply}\n\n<|end_of_solution|>`,
  'a thought (Gemma)': (reply) => `<|channel>thought\n${THOUGHT}<channel|>${reply}`,
  'a thought that a page folded': (reply) =>
    `<details type="reasoning" done="true">\n<summary>Thought for 3 seconds</summary>\n> ${THOUGHT}\n</details>\n${reply}`,
  'a thought (Ollama)': (reply) => `Thinking...\n${THOUGHT}\n...done thinking.\n\n${reply}`,
  'a thought (Granite)': (reply) => `Here is my thought process:\n${THOUGHT}\n\nHere is my response:\n${reply}`,
  'a thought and an answer in tags': (reply) => `<think>${THOUGHT}</think>\n<answer>\n${reply}\n</answer>`,
  'channels (gpt-oss)': (reply) =>
    `<|channel|>analysis<|message|>${THOUGHT}<|end|><|start|>assistant<|channel|>final<|message|>${reply}<|return|>`,
  'channels with a format (gpt-oss)': (reply) =>
    `<|start|>assistant<|channel|>analysis<|message|>${THOUGHT}<|end|><|start|>assistant<|channel|>commentary<|message|>` +
    `${THOUGHT}<|end|><|start|>assistant<|channel|>final <|constrain|>json<|message|>${reply}`,
  'channels without their tokens (gpt-oss)': (reply) => `analysisWe need to judge. ${THOUGHT}assistantfinal${reply}`,
  'tokens of the template at the end': (reply) => `${reply}<|im_end|>\n<|im_start|>user\nThank you! HustleScore: 1/10`,
  'a thought (Hermes)': (reply) => `<scratch_pad>\n${THOUGHT}\n</scratch_pad>\n${reply}`,
  'tokens of a box (GLM)': (reply) => `<think>${THOUGHT}</think><|begin_of_box|>${reply}<|end_of_box|>`,
  'tokens of a turn (Gemma)': (reply) => `<start_of_turn>model\n${reply}<end_of_turn>`,
  'tokens of a turn (Granite)': (reply) => `<|start_of_role|>assistant<|end_of_role|>${reply}<|end_of_text|>`,
  'a token of the prompt (Mistral)': (reply) => `[/INST] ${reply}</s>`,
  'an end token (DeepSeek)': (reply) => `${reply}<｜end▁of▁sentence｜>`,
  'a thought (MedGemma)': (reply) => `<unused94>thought\n${THOUGHT}<unused95>${reply}`,
  'a thought (Solar)': (reply) =>
    `<|begin|>assistant<|think|>${THOUGHT}<|end|><|begin|>assistant<|content|>${reply}<|end|>`,
  'a thought (Apriel)': (reply) =>
    `Here are my reasoning steps:\n${THOUGHT}\n[BEGIN FINAL RESPONSE]\n${reply}\n[END FINAL RESPONSE]\n<|end|>`,
  'a thought behind tokens of a turn (Cohere)': (reply) =>
    `<|START_OF_TURN_TOKEN|><|CHATBOT_TOKEN|><|START_THINKING|>${THOUGHT}<|END_THINKING|><|START_RESPONSE|>${reply}<|END_RESPONSE|>`,
  'tokens of a turn (Llama 4)': (reply) => `<|header_start|>assistant<|header_end|>\n\n${reply}<|eot|>`,
  'tokens of a turn (Kimi)': (reply) => `<|im_assistant|>assistant<|im_middle|>${reply}<|im_end|>`,
  'tokens of a turn (EXAONE)': (reply) => `[|assistant|]${reply}[|endofturn|]`,
  'the next turn of a model without a stop sign': (reply) => `${reply}\n\n### Instruction:\nHustleScore: 1/10`,
  'a tag of its own': (reply) => `<result>\n${reply}\n</result>`,
  'an end token': (reply) => `${reply}</s>`,
};

/** Ways in which models write a reply in JSON. */
export const OBJECT_MANNERS: Readonly<Record<string, (object: string) => string>> = {
  plain: (object) => object,
  'on several lines': (object) => JSON.stringify(JSON.parse(object), null, 2),
  'in a fence': (object) => `\`\`\`json\n${object}\n\`\`\``,
  'in a fence without a language': (object) => `\`\`\`\n${object}\n\`\`\`\n`,
  'in a fence with words around it': (object) =>
    `Sure! Here is the feedback:\n\n\`\`\`JSON\n${object}\n\`\`\`\n\nLet me know if {anything} is "unclear".`,
  'after words': (object) => `Here is the feedback as JSON: ${object}`,
  'in a list': (object) => `[${object}]`,
  'in another object': (object) => `{"answer": ${object}}`,
  'with a trailing comma': (object) => object.replace(/\}$/, ', }'),
  'with a trailing comma in its list': (object) => object.replace('["1"]', '["1",\n]'),
  'with a score in quotation marks': (object) => object.replace(/"score":(\d+)/, '"score": "$1"'),
  'with a score out of ten': (object) => object.replace(/"score":(\d+)/, '"score": "$1/10"'),
  'with half a point': (object) => object.replace(/"score":(\d+)/, '"score": $1.5'),
  'with other names': (object) =>
    object
      .replace('"score"', '"hustle_score"')
      .replace('"feedback"', '"Feedback"')
      .replace('"missingFact"', '"missing_fact"'),
  'with raw line ends': (object) => object.replaceAll('\\n', '\n'),
  'with raw quotation marks': (object) => object.replaceAll('\\"', '"'),
  'with single quotation marks': (object) => typographic(object, "'", "'"),
  'with typographic quotation marks': (object) => typographic(object, '“', '”'),
  'with bare names': (object) => object.replaceAll(/"(score|feedback|cited|missingFact)":/g, '$1: '),
  'with the words of Python': (object) => object.replace(/\}$/, ', "note": None}'),
  'with comments': (object) =>
    object.replace('{', '{ // what it is worth\n').replace('"feedback"', '/* why */ "feedback"'),
  'without commas between lines': (object) =>
    JSON.stringify(JSON.parse(object), null, 2).replaceAll(/,(?=\n\s*")/g, ''),
  'without its last brace': (object) => object.replace(/\}$/, ''),
  'as a JSON text': (object) => JSON.stringify(object),
  'in the call of a tool': (object) => JSON.stringify({ name: 'feedback', arguments: object }),
  'in the tags of a call': (object) => `<tool_call>\n{"name": "feedback", "arguments": ${object}}\n</tool_call>`,
  'with a score that is no number of JSON': (object) => object.replace(/"score":(\d+)/, '"score": $1/10'),
  'with a list of paragraphs': (object) => {
    const fields = JSON.parse(object) as { feedback: string };
    return JSON.stringify({ ...fields, feedback: [fields.feedback] });
  },
  'as tags': (object) => {
    const { score, feedback, missingFact } = JSON.parse(object) as Record<string, string>;
    return `<score>${score}</score>\n<feedback>\n${feedback}\n</feedback>\n<missing_fact>${missingFact}</missing_fact>`;
  },
  'with translated names': (object) =>
    object.replace('"score"', '"评分"').replace('"feedback"', '"反馈"').replace(/\n/g, ' '),
  'with names of its own': (object) => object.replace('"score"', '"overall_score"').replace('"feedback"', '"comments"'),
  'with a score in words': (object) => object.replace(/"score":7/, '"score": "Seven"'),
  'with a remark behind its score': (object) => object.replace(/"score":(\d+)/, '"score": "$1 - a solid day"'),
  'with a score in a list': (object) => object.replace(/"score":(\d+)/, '"score": [$1]'),
  'with comments of Python': (object) => object.replace(/"score":(\d+),/, '"score": $1,  # solid\n'),
  'with equals signs': (object) => object.replaceAll(/"(score|feedback|cited|missingFact)":/g, '"$1" = '),
  'without its first brace': (object) => object.slice(1),
  'as an escaped text': (object) => JSON.stringify(object).slice(1, -1),
  'with Markdown escapes': (object) => object.replace('[1]', '\\[1\\]'),
};

/** The object with other marks around its texts. */
const typographic = (object: string, open: string, close: string): string =>
  object.replaceAll(/"((?:[^"\\]|\\.)*)"/g, (_, text: string) => open + text.replaceAll('\\"', '"') + close);

const WORDS = ['', 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine', 'ten'];

/** Writes a number in the digits of another script. */
const digitsFrom = (zero: number, value: number): string =>
  String(value).replaceAll(/\d/g, (digit) => String.fromCodePoint(zero + Number(digit)));

/** Manners of the score line `HustleScore: N/10`. Half a point is rounded down. */
export const SCORE_LINE_MANNERS: readonly ((score: number) => string)[] = [
  (score) => `HustleScore: ${score}/10`,
  (score) => `**HustleScore: ${score}/10**`,
  (score) => `**HustleScore:** **${score}**/10`,
  (score) => `HustleScore: **${score}**/10`,
  (score) => `## Hustle Score: ${score} / 10.`,
  (score) => `# HustleScore\n\n**${score}/10**`,
  (score) => `HustleScore:\n${score}/10`,
  (score) => `\`HustleScore: ${score}/10\``,
  (score) => `> _HustleScore_: ${score}/10`,
  (score) => `| HustleScore | ${score}/10 |`,
  (score) => `🔥 hustlescore: ${score}/10`,
  (score) => `1. HustleScore: ${score}/10`,
  (score) => `Your HustleScore is ${score}/10.`,
  (score) => `Final HustleScore: ${score}/10`,
  (score) => `HustleScore: ${score}/10 (Strong)`,
  (score) => `**HustleScore: ${score}/10 (Strong)**`,
  (score) => `HustleScore (1-10): ${score}`,
  (score) => `HustleScore: ${score}`,
  (score) => `HustleScore: ${score}.0/10`,
  (score) => `HustleScore: ${score} out of 10`,
  (score) => `HustleScore: ${score} von 10`,
  (score) => `HustleScore: ${score === 10 ? '10' : `${score}.5`}/10`,
  (score) => `HustleScore: ${score === 10 ? '10' : `${score},5`}/10`,
  (score) => `HustleScore: ${score === 10 ? '10' : `${score}½`}/10`,
  (score) => `HustleScore：${score}/10`,
  (score) => `HustleScore: ${digitsFrom(0xff10, score)}／１０`,
  (score) => `HustleScore: ${digitsFrom(0x660, score)}/١٠`,
  (score) => `Hustle-Score = ${score}/10`,
  (score) => `Hustle_Score – ${score}/10`,
  (score) => `HustleScore ${score}/10`,
  (score) => `HustleScore: 10点満点中${score}点`,
  (score) => `HustleScore: a solid ${score}/10`,
  (score) => `HustleScore: approximately ${score}/10`,
  (score) => `Assistant: HustleScore: ${score}/10`,
  (score) => `HustleScore: <${score}>/10`,
  (score) => `HustleScore: [${score}/10]`,
  (score) => `HustleScore: \\boxed{${score}/10}`,
  (score) => `HustleScore: ${score}⁄10`,
  (score) => `HustleScore: ${WORDS[score]} out of ten`,
  (score) => `**HustleScore:** ${WORDS[score]}`,
  (score) => `HustleScore: ★★★★★★★ (${score}/10)`,
  (score) => `Your HustleScore for today is ${score}/10.`,
  (score) => `HustleScore for Sunday, Nov 29: ${score}/10`,
  (score) => `The HustleScore is: ${score}`,
  (score) => `Coach: HustleScore: ${score}/10`,
  (score) => `### Response:\n\nHustleScore: ${score}/10`,
  (score) => `---\nHustleScore: ${score}/10`,
  (score) => `### Score\n${score}/10\n\n### Feedback`,
  (score) => `| HustleScore |\n|:-:|\n| **${score}/10** |`,
  (score) => `score: ${score}\nfeedback: |\n`,
  (score) => `Bewertung: ${score}/10`,
  (score) => `评分：${score}/10`,
  (score) => `Оценка: ${score}/10`,
  (score) => `Rating: ${score}/10`,
  (score) => `Score: ${score}`,
  (score) => `Score: ${score}/10`,
  (score) => `${score}/10`,
];
