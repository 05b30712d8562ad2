/**
 * Removes what is not part of a reply although it arrives as its text: the thoughts of a reasoning model, and tokens of
 * its chat template (docs/specification/coach.md 10). A thought is never shown and never scored.
 *
 * Threat: a log contains such a marker, the model repeats it, and so a piece of the log takes the place of the model's
 * own score. An opening marker counts only at the start of a line or behind another tag, a closing one not within a
 * sentence. A thought below the first words of the reply, or one without an opening marker, makes the reply invalid if
 * it contains a score.
 */
import { parseScoredText } from '#domain/coach/score-line.ts';

type Thought = { open: string; close: string; isPlain?: true };

const TAG =
  '(?:think(?:ing)?|thoughts?|reason(?:ing)?|reflection|scratch_?pad|inner_(?:monologue|thoughts)|analysis|seed:think|ant(?:ml:)?thinking)';
const TAGGED: readonly Thought[] = [
  { open: String.raw`<${TAG}(?:\s[^<>]{0,80})?>`, close: `</${TAG}>` },
  { open: String.raw`\[THINK\]`, close: String.raw`\[/THINK\]` },
  { open: '◁think▷', close: '◁/think▷' },
  { open: String.raw`<\|START_THINKING\|>`, close: String.raw`<\|END_THINKING\|>` },
  { open: String.raw`<\|begin_of_thought\|>`, close: String.raw`<\|end_of_thought\|>` },
  { open: String.raw`<\|channel>thought`, close: String.raw`<channel\|>` },
  { open: '<unused94>', close: '<unused95>' },
  // A thought that a web page or a proxy has put into a collapsible element.
  {
    open: String.raw`<details(?:\s[^<>]{0,80})?>\s{0,9}<summary>[^<]{0,20}(?:thought|thinking|reasoning)[^<]{0,60}</summary>`,
    close: '</details>',
  },
];
const FINAL_CHANNEL = String.raw`(?:<\|start\|>assistant)?<\|channel\|>\s{0,9}final[^<]{0,40}(?:<\|constrain\|>\w{0,20})?<\|message\|>`;
const UNTAGGED: readonly Thought[] = [
  // gpt-oss: its channels before the final one are thoughts, also those that it calls commentary.
  {
    open: String.raw`(?:<\|start\|>assistant)?<\|channel\|>\s{0,9}(?:analysis|commentary)`,
    close: String.raw`${FINAL_CHANNEL}|<\|(?:end|return)\|>(?=\s*[^<\s])`,
  },
  { open: String.raw`(?:<\|begin\|>assistant)?<\|think\|>`, close: String.raw`<\|content\|>` },
  // Words instead of tokens, compared case-sensitively at the start of the reply. In a complete reply they open a
  // thought only if the closing words follow.
  { open: 'analysis', close: String.raw`assistant\s{0,2}final`, isPlain: true },
  { open: 'Thinking...', close: '...done thinking.', isPlain: true },
  { open: 'Here is my thought process:', close: 'Here is my response:', isPlain: true },
  { open: 'Here are my reasoning steps:', close: String.raw`\[BEGIN FINAL RESPONSE\]`, isPlain: true },
];
const THOUGHTS = [...TAGGED, ...UNTAGGED];

const OPENING = String.raw`(?<=(?:^|\n|[|a-z]>)[ \t]{0,8})(?:${THOUGHTS.map(({ open }) => `(${open})`).join('|')})`;
/**
 * A closing marker without an opening one: some templates put the opening one into the prompt. Not within a sentence.
 */
const CLOSING = String.raw`(${TAGGED.map(({ close }) => close).join('|')})(?![ \t]*[\p{Ll}\p{Pe}\p{Pf},.;:?!'"])`;
/** Tokens that end the reply. An endpoint that does not stop at them may send more text, which is dropped. */
const END = String.raw`(###(?<=\n###) (?:Instruction|Human|User):|<\|(?:im_end|eot_id|eom_id|end|return|endoftext|end_of_text|end_of_turn|END_RESPONSE|end_of_solution)\|>|<｜end▁of▁sentence｜>|</s>|<end_of_turn>|<(?:seed:)?eos>)(?=\s*(?:\n|<|$))`;
const TOKEN = String.raw`(?:<\|(?!\w*(?:think|thought|reason|channel|message|call))\w{2,30}\|>|\[\|\w{2,30}\|\])`;
const WRAPPER_TAG = '(?:(?:final_)?(?:answer|response|result|output|reply|review)|feedback_response)';
/** Other tokens around a reply. */
const WRAPPER = [
  FINAL_CHANNEL,
  // Tokens of an unknown template, before the reply and at its end.
  String.raw`(?=[<[]\|)(?<=(?:^|\n|[|a-z]>)[ \t]{0,8})(?:${TOKEN}(?:assistant(?=\s|<|\{))?)+|${TOKEN}(?=\s*$)`,
  String.raw`<\|(?:im_start|start|assistant)\|>(?:assistant)?`,
  String.raw`<\|start_(?:header_id|of_role)\|>assistant<\|end_(?:header_id|of_role)\|>`,
  String.raw`<\|(?:START_RESPONSE|begin_of_solution|begin_of_text|begin_of_box|end_of_box)\|>`,
  String.raw`<start_of_turn>(?:model)?|\[/INST\]`,
  String.raw`(?<=(?:^|\n|[|a-z]>)[ \t]{0,8})</?${WRAPPER_TAG}>`,
  String.raw`</${WRAPPER_TAG}>(?=\s*(?:\n|<|$))|\[(?:BEGIN|END) FINAL RESPONSE\]`,
].join('|');

const MARKER = new RegExp(`${OPENING}|${CLOSING}|${END}|(${WRAPPER})`, 'gui');
const MARKER_ONCE = new RegExp(MARKER.source, 'ui');
const CLOSINGS = THOUGHTS.map(({ close }) => new RegExp(close, 'gui'));
/** The end of a streamed text that may become a marker. */
const PARTIAL_MARKER =
  /(?:<\|[a-z_]{1,20}\|?>[^<\n]{0,40}){0,30}(?:<details(?:\s[^<>]{0,80})?>\s{0,9}(?:<summary>[^<]{0,100})?)?(?:<start_of_turn>[a-z]{0,4}|<(?:[a-z/|｜:][^<>\n]{0,100})?|\[\/?(?:T(?:H(?:I(?:NK?)?)?)?)?|\[\|\w{0,30}\|?|◁[^▷\n]{0,10}|\n#{1,3}(?: (?:[IHU][a-z]{0,10})?)?)?$/i;

/** `isComplete`: false while the reply is streamed; then a suffix that may become a marker is left out. */
export function stripThoughts(received: string, isComplete: boolean): { text: string; isInvalid: boolean } {
  const reply = isComplete ? received : withoutPartialMarker(received);
  const marker = new RegExp(MARKER);
  let text = '';
  let isInvalid = false;
  let hasStarted = false;
  let at = 0;
  for (let match = marker.exec(reply); match; match = marker.exec(reply)) {
    const kind = match.slice(1).findIndex((group) => group !== undefined);
    const before = text + reply.slice(at, match.index);
    const isLeading = before.trim() === '';
    const thought = THOUGHTS[kind];
    if (thought?.isPlain && (!isLeading || match[0] !== thought.open)) continue;
    text = before;
    at = marker.lastIndex;
    if (thought) {
      const closing = CLOSINGS[kind]!;
      closing.lastIndex = at;
      const close = closing.exec(reply);
      if (!close && isComplete && thought.isPlain) {
        text += match[0];
        continue;
      }
      const end = close ? closing.lastIndex : reply.length;
      isInvalid ||= !isLeading && hasScore(reply.slice(at, end));
      at = end;
    } else if (kind === THOUGHTS.length) {
      // A closing marker below the first words of the reply itself ends no thought.
      hasStarted ||= startsWithReply(text);
      if (hasStarted) text += match[0];
      else {
        isInvalid ||= hasScore(text);
        text = '';
      }
    } else if (kind === THOUGHTS.length + 1 && !isLeading) {
      at = reply.length;
    }
    marker.lastIndex = at;
  }
  text += reply.slice(at);
  return { text, isInvalid };
}

/** True if the reply contains the end of a thought whose opening marker is missing. */
export function endsUntaggedThought(reply: string): boolean {
  const first = MARKER_ONCE.exec(reply)
    ?.slice(1)
    .findIndex((group) => group !== undefined);
  return first === THOUGHTS.length;
}

function withoutPartialMarker(reply: string): string {
  const start = reply.trimStart();
  const mayOpen = THOUGHTS.some(({ open, isPlain }) => isPlain && open.startsWith(start));
  return mayOpen ? '' : reply.replace(PARTIAL_MARKER, '');
}

/** The start of an object, or of the tags that stand for one. */
export const REPLY_START = /^\s*(?:```\w*\s*)?(?:[["\s]*\{|<(?:hustle_?score|score|feedback|tool_call)>)/i;
const hasScore = (text: string): boolean => /"score"/.test(text) || parseScoredText(text, true).score !== null;
const startsWithReply = (text: string): boolean =>
  REPLY_START.test(text) || parseScoredText(text, true).startsWithScore;
