import { requestReply } from '../../client/request.ts';
import type { Query } from '../../client/routes.ts';
import { nextPart } from './next-part.ts';

type Search = NonNullable<Query<'GET /v1/observability/requests'>>;
export type ExportFormat = 'csv' | 'jsonl';

const MAX_PARTS = 10;

/** The text without its first line, which each part repeats. */
const withoutHead = (text: string): string => text.slice(text.indexOf('\n') + 1);

interface Exported {
  parts: string[];
  /** True: there are more requests than a file of the console has. */
  isCut: boolean;
}

/**
 * Reads all requests of a search as text, part after part, at most ten.
 * @param onPart gets the number of parts that are there
 * @throws ApiFailure
 */
export const exportRequests = async (
  search: Search,
  format: ExportFormat,
  onPart: (count: number) => void,
  signal: AbortSignal,
): Promise<Exported> => {
  const parts: string[] = [];
  let after: string | undefined;
  for (let count = 1; count <= MAX_PARTS; count++) {
    const reply = await requestReply('GET /v1/observability/requests/export', {
      query: { ...search, format, ...(after !== undefined && { after }) },
      signal,
    });
    const text = await reply.text();
    parts.push(format === 'csv' && parts.length > 0 ? withoutHead(text) : text);
    onPart(count);
    after = nextPart(reply.headers.get('link'));
    if (after === undefined) return { parts, isCut: false };
  }
  return { parts, isCut: true };
};
