/**
 * The result for a field. `works`, `accepted`, `not shown`, `fails` and `refused` were observed; the others need no
 * request.
 */
export type Verdict =
  | { result: 'works' | 'accepted' | 'done by Sluice' | 'ignored' | '400' | 'not sent' }
  | { result: 'fails' | 'refused' | 'not shown'; words: string };

const MAX_WORDS_CHARACTERS = 100;

/** The effect was observed. */
export const works: Verdict = { result: 'works' };
/** The container accepted the field, but its effect cannot be proven from outside. */
export const accepted: Verdict = { result: 'accepted' };
export const fails = (words: string): Verdict => ({ result: 'fails', words: brief(words) });
/** The answer was one in which the field can have no visible effect. */
export const notShown = (words: string): Verdict => ({ result: 'not shown', words: brief(words) });
/** The container returned 400. */
export const refused = (words: string): Verdict => ({ result: 'refused', words: brief(words) });

const brief = (words: string): string => {
  const line = words.replace(/\s+/g, ' ').trim();
  return line.length > MAX_WORDS_CHARACTERS ? `${line.slice(0, MAX_WORDS_CHARACTERS - 1)}…` : line;
};

/** The text of a verdict in the tables. */
export const textOf = (verdict: Verdict): string => {
  switch (verdict.result) {
    case 'fails':
      return `fails: ${verdict.words}`;
    case 'not shown':
      return `not shown: ${verdict.words}`;
    case 'refused':
      return `refused by the container: ${verdict.words}`;
    case 'ignored':
      return 'ignored, named in x-sluice-ignored';
    default:
      return verdict.result;
  }
};
