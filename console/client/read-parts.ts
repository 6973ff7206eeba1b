import { textOf } from './api-failure.ts';
import { nextPart } from './next-part.ts';

/** The most parts of an export that become one file. */
export const MAX_PARTS = 10;

interface Parts {
  texts: readonly string[];
  /** True: there are more parts than were read. */
  isCut: boolean;
}

// Each part of a CSV file begins with the names of its columns.
const withoutHead = (text: string): string => text.slice(text.indexOf('\n') + 1);

/**
 * Reads an export part after part, as their `link` headers continue it; at most ten.
 * @param read gets the cursor of a part; undefined: of the first one
 * @param onPart gets the number of parts that are there
 */
export const readParts = async (
  read: (after: string | undefined) => Promise<Response>,
  { hasHead, onPart }: { hasHead: boolean; onPart: (count: number) => void },
): Promise<Parts> => {
  const texts: string[] = [];
  let after: string | undefined;
  while (texts.length < MAX_PARTS) {
    const reply = await read(after);
    const text = await textOf(reply);
    texts.push(hasHead && texts.length > 0 ? withoutHead(text) : text);
    onPart(texts.length);
    after = nextPart(reply.headers.get('link'));
    if (after === undefined) return { texts, isCut: false };
  }
  return { texts, isCut: true };
};
