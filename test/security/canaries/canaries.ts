/** Where a canary may be found. */
export type Place = `table ${string}` | `bucket ${string}`;

/** The words of one request, and the content that each stands for. */
export interface Planted {
  /** A word for content that no place may have. */
  secret(what: string): string;
  /** Content: prompts, definitions of tools, stop sequences and the like. */
  content(what: string): string;
  /**
   * The name of an unknown field, which is in the header `x-sluice-ignored` of the reply, and so in the result of an
   * idempotency key.
   */
  ignored(what: string): string;
  /** `metadata` and `user`, which are stored for tracing. */
  traced(what: string): string;
  /** Content, stored because the caller asked for a stored response. */
  stored(what: string): string;
  /** `metadata` and `user` of a stored response. */
  storedTrace(what: string): string;
}

/** A word in a place that may not have it. */
export interface Leak {
  /** The content that the word stands for. */
  what: string;
  place: string;
}

const TRACES: readonly Place[] = ['table Usage', 'table Observability'];
const RESPONSES: Place = 'table Responses';
const PAYLOADS: Place = 'bucket Payloads';

const START = 'canary-';
const END = '-wren';
const NUMBER = /-(\d+)-/;
const MOST_CHARACTERS = 40;

const hexOf = (text: string): string => Buffer.from(text).toString('hex');

// The base64 characters that the start of a word determines. They depend on its place in the encoded text.
const base64StartOf = (before: string): string => {
  const text = before + START;
  const determined = Math.floor((text.length * 8) / 6);
  return Buffer.from(text)
    .toString('base64')
    .slice(before === '' ? 0 : 4, determined);
};

// How to find the words in a text, and to read one that was found.
const FORMS: readonly { pattern: RegExp; read: (found: string) => string }[] = [
  { pattern: new RegExp(`${START}\\d+${END}`, 'g'), read: (found) => found },
  { pattern: new RegExp(`${hexOf(START)}(?:3\\d)+${hexOf(END)}`, 'g'), read: (found) => Buffer.from(found, 'hex').toString() },
  ...['', ' ', '  '].map((before) => ({
    pattern: new RegExp(`${base64StartOf(before)}[\\w+/-]{0,${MOST_CHARACTERS}}`, 'g'),
    read: (found: string) => Buffer.from(found, 'base64').toString('latin1'),
  })),
];

/** Words that nobody else writes, what they stand for, and the places in which each of them may be. */
export const createCanaries = () => {
  const planted = new Map<string, { what: string; allowed: readonly string[] }>();
  const plant = (what: string, ...allowed: Place[]): string => {
    const word = `${START}${planted.size}${END}`;
    planted.set(word, { what, allowed });
    return word;
  };
  const wordsIn = (text: string): string[] => {
    const numbers = FORMS.flatMap(({ pattern, read }) => (text.match(pattern) ?? []).map((found) => NUMBER.exec(read(found))?.[1]));
    return [...new Set(numbers)].map((number) => `${START}${number}${END}`).filter((word) => planted.has(word));
  };
  return {
    plant,
    /** Plants in one request. `isLogged`: the payload log may have its content. */
    inRequest: (request: string, isLogged: boolean): Planted => {
      const log = isLogged ? [PAYLOADS] : [];
      const planter =
        (...allowed: Place[]) =>
        (what: string): string =>
          plant(`${what} of ${request}`, ...allowed);
      return {
        secret: planter(),
        content: planter(...log),
        ignored: planter(RESPONSES, ...log),
        traced: planter(...TRACES, ...log),
        stored: planter(RESPONSES, ...log),
        storedTrace: planter(...TRACES, RESPONSES, ...log),
      };
    },
    /** The content whose words are in a text, in any encoding. */
    foundIn: (text: string): string[] => wordsIn(text).map((word) => planted.get(word)?.what as string),
    /** The words that are where they may not be. */
    leaksIn: (places: ReadonlyMap<string, string>): Leak[] =>
      [...places].flatMap(([place, text]) =>
        wordsIn(text)
          .map((word) => planted.get(word) as { what: string; allowed: readonly string[] })
          .filter(({ allowed }) => !allowed.includes(place))
          .map(({ what }) => ({ what, place })),
      ),
  };
};
