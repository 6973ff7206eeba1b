/** The most time until the end of a reply. */
export const REPLY_LIMIT_MS = 45_000;

// Coarse enough to be the same in every run.
const TIME_CLASSES = [
  { name: 'at once', belowMs: 2_200 },
  { name: '< 7 s', belowMs: 7_000 },
  { name: '< 45 s', belowMs: REPLY_LIMIT_MS },
] as const;

const NAMES = new RegExp(TIME_CLASSES.map(({ name }) => name).join('|'), 'g');

/**
 * The class of a time. A wait for another service takes it well into a class, so that only a busy machine can lift it
 * to the next.
 */
export const timeClassOf = (elapsedMs: number): string => {
  const found = TIME_CLASSES.find(({ belowMs }) => elapsedMs < belowMs);
  if (!found) throw new Error(`A reply took ${elapsedMs} ms, more than ${REPLY_LIMIT_MS}.`);
  return found.name;
};

/** A text of the document without the names of time classes. */
export const withoutTimes = (text: string): string => text.replaceAll(NAMES, '').replaceAll(/[ -]+/g, ' ');
