import { useState } from 'react';
import { can, useSignedIn } from '../../client/me.ts';
import { useRead } from '../../client/queries.ts';
import { Button } from '../../design/controls/button.tsx';
import { ScreenLink } from '../../design/controls/screen-link.tsx';
import { type Column, Table } from '../../design/data/table.tsx';
import { Time } from '../../design/data/values.tsx';
import { Loaded } from '../../design/feedback/loaded.tsx';
import { Row, Section } from '../../design/layout/layout.tsx';
import { monthName } from '../invoices/invoice-state.ts';
import { EndPromise, StatePromise } from './promise-dialogs.tsx';
import type { PromiseList } from './promise-draft.ts';
import type { Figures } from './promise-words.ts';
import { Promised } from './promised.tsx';

interface PromisedModel {
  name: string;
  /** Undefined: nothing is promised this month. */
  service_promise?: Figures | undefined;
}

const NOTHING = 'Nothing is promised.';

const COLUMNS: readonly Column<PromiseList['data'][number]>[] = [
  { title: 'From', isWhole: true, render: ({ from_month }) => monthName(from_month) },
  { title: 'Promise', render: (promise) => <Promised figures={promise} otherwise={NOTHING} /> },
  { title: 'Stated', isWhole: true, render: ({ stated_at }) => <Time seconds={stated_at} /> },
];

const DIALOGS = { state: StatePromise, end: EndPromise } as const;

const AllPromises = ({ model, list }: { model: string; list: PromiseList }) => {
  const me = useSignedIn();
  const [open, setOpen] = useState<keyof typeof DIALOGS>();
  const OpenDialog = open && DIALOGS[open];
  return (
    <>
      {can(me, 'prices:write') && (
        <Row>
          <Button onClick={() => setOpen('state')}>State promise</Button>
          {list.data.length > 0 && <Button onClick={() => setOpen('end')}>End promise</Button>}
        </Row>
      )}
      {list.data.length > 0 && (
        <Table label="All promises of this model" columns={COLUMNS} rows={list.data} keyOf={({ from_month }) => from_month} />
      )}
      {OpenDialog && <OpenDialog model={model} list={list} onClose={() => setOpen(undefined)} />}
    </>
  );
};

/** The promise of a shared model this month and, for those who may see it, that of each month. */
export const ServicePromise = ({ model: { name, service_promise } }: { model: PromisedModel }) => {
  const isForPlatform = can(useSignedIn(), 'prices:list');
  const list = useRead('GET /v1/service-promises', { query: { model: name } }, { enabled: isForPlatform });
  if (!service_promise && !isForPlatform) return null;
  return (
    <Section title="Service levels">
      {service_promise ? <Promised figures={service_promise} otherwise={NOTHING} /> : <p>Nothing is promised this month.</p>}
      <p>
        <ScreenLink to="/service-levels">Compare promised and measured service levels</ScreenLink>
      </p>
      {isForPlatform && <Loaded query={list}>{(promises) => <AllPromises model={name} list={promises} />}</Loaded>}
    </Section>
  );
};
