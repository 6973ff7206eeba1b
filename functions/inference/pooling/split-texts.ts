import type { TextPrompt } from '../../../shared/tokens/prompt.ts';
import { estimateTokens, textBytes } from '../pipeline/prompt-size.ts';

// A call must be answered within 60 s. A single text can have more.
const MAX_CALL_TOKENS = 32_768;

/** Some of a request's texts, in order. */
export interface TextRange {
  from: number;
  texts: TextPrompt['texts'];
}

/** Splits the texts of a request into calls, each of at most `maxTexts` texts. */
export const splitTexts = ({ texts, pairedWith = '' }: TextPrompt, maxTexts: number): TextRange[] => {
  const ranges: TextRange[] = [];
  const pairedBytes = Buffer.byteLength(pairedWith);
  let from = 0;
  let callTokens = 0;
  texts.forEach((text, index) => {
    const tokens = estimateTokens(pairedBytes + textBytes(text));
    if (index > from && (index - from === maxTexts || callTokens + tokens > MAX_CALL_TOKENS)) {
      ranges.push({ from, texts: texts.slice(from, index) });
      from = index;
      callTokens = 0;
    }
    callTokens += tokens;
  });
  ranges.push({ from, texts: texts.slice(from) });
  return ranges;
};
