import type { PatternName } from '../settings.ts';
import type { RedactionBudget } from './budget.ts';
import { findSpans, type TextSpan } from './find-spans.ts';
import { type NormalText, normalize } from './normal-text.ts';

/** The text in place of content that was left out. */
export const markerOf = (name: string): string => `[redacted:${name}]`;

// A replacement can leave something to replace, such as an address whose neighbour was replaced. A second round is
// nearly always the last.
const MAX_ROUNDS = 8;

type Count = (name: string, times: number) => void;

const replace = (text: string, { originOf }: NormalText, spans: readonly TextSpan[], count: Count): string => {
  const parts: string[] = [];
  let end = 0;
  for (const { from, to, pattern } of spans) {
    parts.push(text.slice(end, originOf(from)), markerOf(pattern));
    end = originOf(to);
    count(pattern, 1);
  }
  return parts.join('') + text.slice(end);
};

/**
 * Replaces what the patterns find. Nothing in the result is found again.
 * @param budget the steps that this takes are subtracted from it
 * @param count called with the name of a pattern and how often it was replaced
 * @returns undefined: the budget is used up
 */
export const redactText = (
  text: string,
  patterns: ReadonlySet<PatternName>,
  budget: RedactionBudget,
  count: Count = () => undefined,
): string | undefined => {
  let current = text;
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const normal = normalize(current);
    const found = findSpans(normal, patterns, budget.left);
    if (!found) {
      budget.left = 0;
      return undefined;
    }
    budget.left -= found.steps;
    if (found.spans.length === 0) return current;
    current = replace(current, normal, found.spans, count);
  }
  count('text', 1);
  return markerOf('text');
};
