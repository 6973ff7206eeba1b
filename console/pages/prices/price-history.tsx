import { useState } from 'react';
import { can, useSignedIn } from '../../client/me.ts';
import { useRead } from '../../client/queries.ts';
import type { ReplyBody } from '../../client/routes.ts';
import { Button, ButtonLink } from '../../design/controls/button.tsx';
import { CopyText } from '../../design/controls/copy.tsx';
import { Table } from '../../design/data/table.tsx';
import { Chip, Money } from '../../design/data/values.tsx';
import { Empty } from '../../design/feedback/failure.tsx';
import { Loaded } from '../../design/feedback/loaded.tsx';
import { formatStart } from '../../design/format/times.ts';
import { Row, Section } from '../../design/layout/layout.tsx';
import { PriceDialog } from '../model/price-dialog.tsx';
import { differenceOf } from '../model/price-draft.ts';
import { stateOf } from './price-states.ts';

type Price = ReplyBody<'GET /v1/prices'>['data'][number];

const KINDS = [
  ['prompt', 'Input / M'],
  ['cached_prompt', 'Cached / M'],
  ['completion', 'Output / M'],
] as const;

const TONES = { current: 'good', scheduled: 'accent', past: undefined } as const;

const Versions = ({ prices }: { prices: readonly Price[] }) => {
  const earlierOf = (price: Price): Price | undefined => prices[prices.indexOf(price) + 1];
  const now = Date.now() / 1_000;
  return (
    <Table
      label="Price versions, newest first"
      rows={prices}
      keyOf={({ id }) => id}
      columns={[
        { title: 'Effective from', isWhole: true, render: ({ effective_at }) => formatStart(effective_at) },
        {
          title: 'State',
          isWhole: true,
          render: (price) => <Chip state={stateOf(prices, price, now)} tone={TONES[stateOf(prices, price, now)]} />,
        },
        ...KINDS.map(([kind, title]) => ({
          title,
          isNumeric: true,
          render: (price: Price) => {
            const before = earlierOf(price);
            const difference = before && differenceOf(before.per_million[kind], price.per_million[kind]);
            return (
              <>
                <Money amount={price.per_million[kind]} /> {difference && <small>({difference})</small>}
              </>
            );
          },
        })),
        { title: 'Version', render: ({ id }) => <CopyText text={id} /> },
      ]}
    />
  );
};

/** All price versions of a model, and a new one. @param organization of a deployment's model; empty: a shared model */
export const PriceHistory = ({ model, organization }: { model: string; organization: string }) => {
  const me = useSignedIn();
  const [isAdding, setAdding] = useState(false);
  const query = useRead('GET /v1/prices', { query: { model, ...(organization && { organization }) } });
  const current = query.data?.data.find((price) => stateOf(query.data.data, price, Date.now() / 1_000) === 'current');
  return (
    <Section
      title={`Prices of ${model}`}
      actions={
        query.data && (
          <Row>
            <ButtonLink to={`/rerates?${new URLSearchParams({ dialog: 'create', model, ...(organization && { organization }) })}`}>
              Rerate past usage
            </ButtonLink>
            {can(me, 'prices:write') && (
              <Button look="primary" onClick={() => setAdding(true)}>
                Add price
              </Button>
            )}
          </Row>
        )
      }
    >
      <Loaded query={query}>
        {({ data }) =>
          data.length === 0 ? (
            <Empty title="No price yet">
              <p>The model can't be called until it has a price.</p>
            </Empty>
          ) : (
            <Versions prices={data} />
          )
        }
      </Loaded>
      {isAdding && (
        <PriceDialog
          model={{ name: model, organization: organization || null, pricing: current ?? null }}
          onClose={() => setAdding(false)}
        />
      )}
    </Section>
  );
};
