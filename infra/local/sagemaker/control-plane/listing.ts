import * as z from 'zod';
import { readInput } from '../../http/json-api.ts';
import type { Resource } from './records.ts';
import { invalid } from './requests/errors.ts';

// Unlike most of AWS, SageMaker returns ten items by default.
const ListInput = z.object({
  SortBy: z.enum(['Name', 'CreationTime', 'Status']).default('CreationTime'),
  SortOrder: z.enum(['Ascending', 'Descending']).default('Descending'),
  NextToken: z.string().max(8_192).optional(),
  MaxResults: z.int().min(1).max(100).default(10),
  NameContains: z.string().max(63).default(''),
});

const Position = z.tuple([z.union([z.string(), z.number()]), z.number()]);
type Position = z.infer<typeof Position>;

const compare = (a: Position, b: Position): number => (a[0] < b[0] ? -1 : a[0] > b[0] ? 1 : a[1] - b[1]);

// The token is the position of the last item of a page, so a page is right even if items were created or deleted since
// the one before.
const readToken = (token: string): Position => {
  try {
    return Position.parse(JSON.parse(Buffer.from(token, 'base64url').toString()));
  } catch {
    throw invalid('The token is not valid.');
  }
};

/**
 * Returns a page of resources whose name contains the text of the request.
 * @param statusOf sorts by status; without it, that is the time of creation
 */
export const listPage = <Item extends Resource>(
  items: Iterable<Item>,
  body: unknown,
  statusOf?: (item: Item) => string,
): { items: Item[]; NextToken?: string } => {
  const input = readInput(ListInput, body);
  const positionOf = (item: Item): Position => {
    const sorted = input.SortBy === 'Name' ? item.name : input.SortBy === 'Status' && statusOf ? statusOf(item) : item.createdAt;
    return [sorted, item.sequence];
  };
  const direction = input.SortOrder === 'Ascending' ? 1 : -1;
  const after = input.NextToken === undefined ? undefined : readToken(input.NextToken);
  const found = [...items]
    .filter(({ name }) => name.toLowerCase().includes(input.NameContains.toLowerCase()))
    .sort((a, b) => direction * compare(positionOf(a), positionOf(b)))
    .filter((item) => after === undefined || direction * compare(positionOf(item), after) > 0);
  const page = found.slice(0, input.MaxResults);
  const last = page.at(-1);
  if (found.length === page.length || !last) return { items: page };
  return { items: page, NextToken: Buffer.from(JSON.stringify(positionOf(last))).toString('base64url') };
};
