import { useState } from 'react';
import { can, useSignedIn } from '../../client/me.ts';
import { useRead } from '../../client/queries.ts';
import { useUrlState, useUrlStates } from '../../client/url-state.ts';
import { Button } from '../../design/controls/button.tsx';
import { SelectField } from '../../design/controls/fields.tsx';
import { FilterField } from '../../design/controls/filter-field.tsx';
import { Menu } from '../../design/controls/menu.tsx';
import { type Column, Table } from '../../design/data/table.tsx';
import { Chip, Money } from '../../design/data/values.tsx';
import { Empty } from '../../design/feedback/failure.tsx';
import { Loaded } from '../../design/feedback/loaded.tsx';
import { formatUtc } from '../../design/format/times.ts';
import { Filters, Page } from '../../design/layout/layout.tsx';
import { type InstanceType, isUsable } from '../deployments/hour-cost.ts';
import { AddInstanceCost, AddInstancePrice, AddInstanceType, ChangeTypeStatus } from './instance-dialogs.tsx';
import { KINDS, matchingTypes, nextPriceOf } from './instance-filters.ts';

const DIALOGS = { price: AddInstancePrice, cost: AddInstanceCost, status: ChangeTypeStatus } as const;

interface Opened {
  name: keyof typeof DIALOGS;
  type: InstanceType;
}

const stateOf = (type: InstanceType) =>
  isUsable(type) ? (
    <Chip state="available" tone="good" />
  ) : type.status === 'retired' ? (
    <Chip state="retired" />
  ) : (
    <Chip state="no price" tone="warn" />
  );

const NextPrice = ({ type }: { type: InstanceType }) => {
  const next = nextPriceOf(type, Date.now() / 1_000);
  return next ? (
    <>
      <Money amount={next.per_hour} /> from {formatUtc(next.effective_at)}
    </>
  ) : (
    <>–</>
  );
};

const COLUMNS: readonly Column<InstanceType>[] = [
  { title: 'Instance type', isWhole: true, render: ({ id }) => <code>{id}</code> },
  { title: 'State', isWhole: true, render: stateOf },
  { title: 'Accelerators', isWhole: true, render: ({ accelerators, accelerator }) => `${accelerators} × ${accelerator}` },
  { title: 'Memory per accelerator', isNumeric: true, render: ({ accelerator_memory_gib: gib }) => `${gib} GiB` },
  { title: 'Instance memory', isNumeric: true, render: ({ memory_gib }) => `${memory_gib} GiB` },
  { title: 'Price per hour', isNumeric: true, render: ({ price }) => <Money amount={price?.per_hour} /> },
];

// Only the platform sees its own costs, and prices that are planned.
const OWN_COST: Column<InstanceType> = {
  title: 'Own cost per hour',
  isNumeric: true,
  render: ({ costs = [] }) => <Money amount={costs[0]?.per_hour} />,
};

const NEXT_PRICE: Column<InstanceType> = { title: 'Next price', render: (type) => <NextPrice type={type} /> };

const TypeTable = ({ types, canChange }: { types: readonly InstanceType[]; canChange: boolean }) => {
  // A dialog acts on the version that it was opened with.
  const [opened, setOpened] = useState<Opened>();
  const OpenDialog = opened && DIALOGS[opened.name];
  const actions: Column<InstanceType> = {
    title: 'Actions',
    isWhole: true,
    render: (type) => (
      <Menu
        label={`Actions of ${type.id}`}
        items={[
          { label: 'Add price', onSelect: () => setOpened({ name: 'price', type }) },
          { label: 'Add cost', onSelect: () => setOpened({ name: 'cost', type }) },
          {
            label: type.status === 'available' ? 'Retire instance type' : 'Offer instance type again',
            onSelect: () => setOpened({ name: 'status', type }),
            isDangerous: type.status === 'available',
          },
        ]}
      />
    ),
  };
  return (
    <>
      <Table
        label="Instance types"
        rows={types}
        keyOf={({ id }) => id}
        columns={canChange ? [...COLUMNS, NEXT_PRICE, OWN_COST, actions] : COLUMNS}
      />
      {opened && OpenDialog && <OpenDialog type={opened.type} onClose={() => setOpened(undefined)} />}
    </>
  );
};

export const Screen = () => {
  const me = useSignedIn();
  const canChange = can(me, 'catalogue:write');
  const [{ show: kind, q: text }, change] = useUrlStates(['show', 'q']);
  const [dialog, setDialog] = useUrlState<string>('dialog', '');
  const query = useRead('GET /v1/instance-types', {});
  return (
    <Page
      title="Instance types"
      description="The GPU instances that deployments can run on, and their price per hour. AWS quotas are shown when you deploy a model."
      actions={
        canChange && (
          <Button look="primary" onClick={() => setDialog('add')}>
            Register instance type
          </Button>
        )
      }
    >
      <Filters>
        <SelectField label="Show" value={kind} onChange={(show) => change({ show })} choices={KINDS} />
        <FilterField label="Search" placeholder="type or accelerator" value={text} onChange={(q) => change({ q })} />
      </Filters>
      <Loaded query={query}>
        {({ data }) => {
          const types = matchingTypes(data, { kind, text });
          return types.length === 0 ? (
            <Empty title="No instance types match these filters" />
          ) : (
            <TypeTable types={types} canChange={canChange} />
          );
        }}
      </Loaded>
      {canChange && dialog === 'add' && <AddInstanceType onClose={() => setDialog('')} />}
    </Page>
  );
};
