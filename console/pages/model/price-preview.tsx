import type { TrialBody } from '../../client/routes.ts';
import { Table } from '../../design/data/table.tsx';
import { Money } from '../../design/data/values.tsx';
import { formatUtc } from '../../design/format/times.ts';
import { Stack } from '../../design/layout/layout.tsx';
import { differenceOf } from './price-draft.ts';

export type PricePreview = TrialBody<'POST /v1/prices'>;

const KINDS = [
  ['prompt', 'Input / M'],
  ['cached_prompt', 'Cached / M'],
  ['completion', 'Output / M'],
] as const;

/** The effects of a new price version: for whom, and from when. */
export const PriceChange = ({ preview: { price, replaces, replaced_at } }: { preview: PricePreview }) => {
  const isNow = price.effective_at * 1_000 <= Date.now();
  return (
    <Stack>
      <p>
        {price.organization === null ? 'All organizations pay' : `Only the organization ${price.organization} pays`} this price for{' '}
        {price.model} from {isNow ? 'now on' : formatUtc(price.effective_at)}
        {replaced_at === null
          ? ', until you add another price.'
          : `, until ${formatUtc(replaced_at)}, when a scheduled price takes effect.`}{' '}
        Earlier requests keep their price.
      </p>
      <Table
        label="Price changes"
        rows={KINDS}
        keyOf={([kind]) => kind}
        columns={[
          { title: 'Price', isWhole: true, render: ([, title]) => title },
          { title: 'Previous', isNumeric: true, render: ([kind]) => <Money amount={replaces?.per_million[kind]} /> },
          { title: 'New', isNumeric: true, render: ([kind]) => <Money amount={price.per_million[kind]} /> },
          {
            title: 'Difference',
            isNumeric: true,
            render: ([kind]) => (replaces ? differenceOf(replaces.per_million[kind], price.per_million[kind]) || 'same' : 'new'),
          },
        ]}
      />
    </Stack>
  );
};
