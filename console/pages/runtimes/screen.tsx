import { useState } from 'react';
import { can, useSignedIn } from '../../client/me.ts';
import { useRead } from '../../client/queries.ts';
import { useUrlState } from '../../client/url-state.ts';
import { Button } from '../../design/controls/button.tsx';
import { Menu } from '../../design/controls/menu.tsx';
import { type Column, Table } from '../../design/data/table.tsx';
import { Chip } from '../../design/data/values.tsx';
import { Empty } from '../../design/feedback/failure.tsx';
import { Loaded } from '../../design/feedback/loaded.tsx';
import { Page } from '../../design/layout/layout.tsx';
import { AddRuntime, ChangeStatus, EditRuntime, type Runtime } from './runtime-dialogs.tsx';

const DIALOGS = { edit: EditRuntime, status: ChangeStatus } as const;

interface Opened {
  name: keyof typeof DIALOGS;
  runtime: Runtime;
}

const COLUMNS: readonly Column<Runtime>[] = [
  { title: 'Runtime', isWhole: true, render: ({ id }) => <code>{id}</code> },
  { title: 'State', isWhole: true, render: ({ status }) => <Chip state={status} {...(status === 'available' && { tone: 'good' })} /> },
  { title: 'Description', isLong: true, render: ({ description }) => description || '–' },
  { title: 'Request format', isWhole: true, render: ({ dialect }) => dialect },
];

// The platform's own facts, and what it can change.
const platformColumns = (open: (opened: Opened) => void): readonly Column<Runtime>[] => [
  { title: 'Image', hasIds: true, render: ({ image }) => <code>{image}</code> },
  { title: 'AMI', render: ({ ami }) => ami ?? "instance type's default" },
  {
    title: 'Actions',
    render: (runtime) => (
      <Menu
        label={`Actions of ${runtime.id}`}
        items={[
          { label: 'Edit runtime', onSelect: () => open({ name: 'edit', runtime }) },
          {
            label: runtime.status === 'available' ? 'Retire runtime' : 'Offer runtime again',
            onSelect: () => open({ name: 'status', runtime }),
            isDangerous: runtime.status === 'available',
          },
        ]}
      />
    ),
  },
];

const RuntimeTable = ({ runtimes, canChange }: { runtimes: readonly Runtime[]; canChange: boolean }) => {
  // A dialog acts on the version that it was opened with.
  const [opened, setOpened] = useState<Opened>();
  const OpenDialog = opened && DIALOGS[opened.name];
  return (
    <>
      <Table
        label="Runtimes"
        rows={runtimes}
        keyOf={({ id }) => id}
        columns={canChange ? [...COLUMNS, ...platformColumns(setOpened)] : COLUMNS}
      />
      {opened && OpenDialog && <OpenDialog runtime={opened.runtime} onClose={() => setOpened(undefined)} />}
    </>
  );
};

export const Screen = () => {
  const me = useSignedIn();
  const canChange = can(me, 'catalogue:write');
  const [dialog, setDialog] = useUrlState<string>('dialog', '');
  const query = useRead('GET /v1/runtimes', {});
  return (
    <Page
      title="Runtimes"
      description="The container images that deployments can run models with. You can't change an image: register a new runtime instead."
      actions={
        canChange && (
          <Button look="primary" onClick={() => setDialog('add')}>
            Register runtime
          </Button>
        )
      }
    >
      <Loaded query={query}>
        {({ data }) =>
          data.length === 0 ? (
            <Empty title="No runtime yet">
              <p>Deployments need a runtime. An admin can register the image of a model server, such as vLLM.</p>
            </Empty>
          ) : (
            <RuntimeTable runtimes={data} canChange={canChange} />
          )
        }
      </Loaded>
      {canChange && dialog === 'add' && <AddRuntime onClose={() => setDialog('')} />}
    </Page>
  );
};
