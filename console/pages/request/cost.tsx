import type { ReplyBody } from '../../client/routes.ts';
import { CopyText } from '../../design/controls/copy.tsx';
import { Table } from '../../design/data/table.tsx';
import { Count, Money } from '../../design/data/values.tsx';
import { Notice } from '../../design/feedback/failure.tsx';
import { Facts, Section, Stack } from '../../design/layout/layout.tsx';

type Cost = ReplyBody<'GET /v1/observability/requests/{id}'>['cost'];
type Rating = Cost['ratings'][number];

const TOKENS = { input: 'Input', cached_input: 'Cached input', output: 'Output' } as const;

const RatingLines = ({ rating: { id, charged, price_version, rerate, lines } }: { rating: Rating }) => (
  <Stack>
    <Facts
      facts={[
        [rerate === null ? 'Charged' : 'Corrected by', <Money key="charged" amount={charged} />],
        ['Price version', price_version === null ? 'none' : <CopyText key="version" text={price_version} />],
        ['Rerate', rerate === null ? undefined : <CopyText key="rerate" text={rerate} />],
      ]}
    />
    {lines === null && <Notice>The prices of this version are no longer available.</Notice>}
    {lines !== null && lines.length > 0 && (
      <Table
        label={`Cost of ${id}`}
        rows={lines}
        keyOf={({ tokens }) => tokens}
        columns={[
          { title: 'Tokens', render: ({ tokens }) => TOKENS[tokens] },
          { title: 'Quantity', isNumeric: true, render: ({ quantity }) => <Count value={quantity} /> },
          { title: 'Per million', isNumeric: true, render: ({ per_million }) => <Money amount={per_million} /> },
          { title: 'Amount', isNumeric: true, render: ({ amount }) => <Money amount={amount} /> },
        ]}
      />
    )}
  </Stack>
);

/** The cost of a request, by rating and by kind of token. */
export const RequestCost = ({ cost: { total, is_capped, is_prepaid, ratings } }: { cost: Cost }) => (
  <Section title="Cost" isCard>
    <Facts
      facts={[
        ['Total', <Money key="total" amount={total} />],
        ['Payment', is_prepaid ? 'prepaid credit' : 'monthly invoice'],
      ]}
    />
    {is_capped && <Notice>The tokens cost more than the amount reserved for the request, so only the reserved amount was charged.</Notice>}
    {ratings.map((rating) => (
      <RatingLines key={rating.id} rating={rating} />
    ))}
  </Section>
);
