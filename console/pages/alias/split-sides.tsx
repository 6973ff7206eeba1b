import { useState } from 'react';
import { seesOnlyOwn, useSignedIn } from '../../client/me.ts';
import { useRead } from '../../client/queries.ts';
import { type Column, Table } from '../../design/data/table.tsx';
import { Count, Duration, Money } from '../../design/data/values.tsx';
import { Loaded } from '../../design/feedback/loaded.tsx';
import { DAY_S } from '../../design/format/units.ts';
import { Note, Stack } from '../../design/layout/layout.tsx';
import type { Alias } from '../aliases/alias-draft.ts';
import { type SideRow, type Split, sidesOf } from './sides.ts';

const REFRESH_MS = 15_000;
const OTHERS = '(other)';

const percent = (share: number | null | undefined): string => (share == null ? '–' : `${Number((share * 100).toFixed(2))}%`);

const COLUMNS: readonly Column<SideRow>[] = [
  { title: 'Side', isWhole: true, render: ({ side }) => (side === 'base' ? 'base model' : 'new model') },
  { title: 'Model', isWhole: true, render: ({ model }) => model },
  { title: 'Requests', isNumeric: true, render: ({ totals }) => <Count value={totals?.requests ?? 0} /> },
  { title: 'Errors', isNumeric: true, render: ({ totals }) => percent(totals?.error_rate) },
  { title: 'First token (p50)', isNumeric: true, render: ({ totals }) => <Duration milliseconds={totals?.time_to_first_token_ms?.p50} /> },
  { title: 'First token (p90)', isNumeric: true, render: ({ totals }) => <Duration milliseconds={totals?.time_to_first_token_ms?.p90} /> },
  { title: 'Tokens per second', isNumeric: true, render: ({ totals }) => <Count value={totals?.output_tokens_per_second} /> },
  { title: 'Cost', isNumeric: true, render: ({ totals }) => <Money amount={totals?.cost} /> },
];

interface SplitSidesProps {
  alias: Alias;
  split: Split;
}

/** How both sides of a split have answered since it started, or in the last day. */
export const SplitSides = ({ alias, split: { model, started_at } }: SplitSidesProps) => {
  const isOwn = seesOnlyOwn(useSignedIn());
  const [nowS] = useState(() => Math.floor(Date.now() / 1_000));
  const query = {
    group_by: ['alias' as const, 'side' as const],
    start_time: String(Math.max(started_at, nowS - DAY_S)),
    ...(alias.organization !== null && { organization: alias.organization }),
  };
  return (
    <Loaded query={useRead('GET /v1/observability/metrics', { query }, { refetchMs: REFRESH_MS })}>
      {({ series }) => (
        <Stack>
          <Table label="Both sides of the split" rows={sidesOf(series, alias, model)} keyOf={({ side }) => side} columns={COLUMNS} />
          <Note>
            {isOwn ? 'Requests with your API keys' : 'Requests'} since the split started, up to the last 24 hours, with a delay of about two
            minutes. Errors that callers cause count here, but never stop the split.
            {series.some((each) => each.alias === OTHERS) && ' Aliases with few requests may be missing.'}
          </Note>
        </Stack>
      )}
    </Loaded>
  );
};
