import type { PatternName } from '../../../shared/payload-log/settings.ts';
import { FINDERS } from './patterns.ts';
import type { Span } from './span.ts';

/** What stands for content that was left out. */
export const markerOf = (name: string): string => `[redacted:${name}]`;

/** What a replacement leaves can be something to replace, such as an address whose neighbour was replaced. A second round is nearly always the last. */
const MAX_ROUNDS = 8;

const replace = (text: string, spans: readonly Span[], marker: string): string => {
  let replaced = '';
  let end = 0;
  for (const [from, to] of spans) {
    replaced += text.slice(end, from) + marker;
    end = to;
  }
  return replaced + text.slice(end);
};

/**
 * Replaces what the patterns find. Nothing in the result is found again.
 * @param count called with the name of a pattern and how often it was replaced
 */
export const redactText = (
  text: string,
  patterns: ReadonlySet<PatternName>,
  count: (name: string, times: number) => void = () => undefined,
): string => {
  let current = text;
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const before = current;
    for (const name of ORDER) {
      if (!patterns.has(name)) continue;
      const spans = FINDERS[name](current);
      if (spans.length === 0) continue;
      count(name, spans.length);
      current = replace(current, spans, markerOf(name));
    }
    if (current === before) return current;
  }
  count('text', 1);
  return markerOf('text');
};

const ORDER = Object.keys(FINDERS) as PatternName[];
