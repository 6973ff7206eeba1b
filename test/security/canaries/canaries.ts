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

const formsOf = (word: string): string[] => [
  word,
  Buffer.from(word).toString('hex'),
  // Base64 of a part depends on its place in the text.
  ...['', ' ', '  '].map((before) =>
    Buffer.from(before + word)
      .toString('base64')
      .slice(before.length === 0 ? 0 : 4, -4),
  ),
];

/** Words that nobody else writes, what they stand for, and the places in which each of them may be. */
export const createCanaries = () => {
  const planted = new Map<string, { what: string; allowed: readonly string[] }>();
  const plant = (what: string, ...allowed: Place[]): string => {
    const word = `canary-${planted.size}-wren`;
    planted.set(word, { what, allowed });
    return word;
  };
  const wordsIn = (text: string): string[] => [...planted.keys()].filter((word) => formsOf(word).some((form) => text.includes(form)));
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
