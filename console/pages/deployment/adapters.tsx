import { useState } from 'react';
import { can, useSignedIn } from '../../client/me.ts';
import { readAgain, useRead } from '../../client/queries.ts';
import { request } from '../../client/request.ts';
import type { ReplyBody } from '../../client/routes.ts';
import { Button } from '../../design/controls/button.tsx';
import { TextField } from '../../design/controls/fields.tsx';
import { Table } from '../../design/data/table.tsx';
import { Chip, Count, Time } from '../../design/data/values.tsx';
import { Dialog } from '../../design/feedback/dialog.tsx';
import { Empty } from '../../design/feedback/failure.tsx';
import { Loaded } from '../../design/feedback/loaded.tsx';
import { formatMoney } from '../../design/format/amounts.ts';
import { Confirm } from '../../design/forms/confirm.tsx';
import { Form } from '../../design/forms/form.tsx';
import { Section } from '../../design/layout/layout.tsx';
import type { Deployment } from '../deployments/deployment-state.ts';
import { ReasonText } from './reason-text.tsx';

type Adapter = ReplyBody<'GET /v1/deployments/{id}/adapters'>['data'][number];

const REFETCH_MS = 5_000;
const ADAPTERS_PATH = '/v1/deployments/{id}/adapters';

const NOTES: Partial<Record<Adapter['state'], string>> = {
  pending: 'Its files are being checked and copied.',
  creating: 'Loads as soon as the deployment runs.',
  ready: 'Answers requests while its deployment is awake.',
  deleting: 'No longer gets requests.',
};

interface AdapterDialogProps {
  deployment: Deployment;
  onClose: () => void;
}

const AddAdapter = ({ deployment: { id, name: base }, onClose }: AdapterDialogProps) => {
  const [name, setName] = useState('');
  const [source, setSource] = useState('');
  return (
    <Dialog title={`Add adapter to ${base}`} onClose={onClose}>
      <Form
        submitLabel="Add adapter"
        canSubmit={name.trim() !== '' && source.trim() !== ''}
        onCancel={onClose}
        onSubmit={async () => {
          await request('POST /v1/deployments/{id}/adapters', { parameters: { id }, body: { name: name.trim(), source: source.trim() } });
          await readAgain(ADAPTERS_PATH);
          onClose();
        }}
      >
        <TextField label="Name of the adapter" value={name} onChange={setName} isCode hint="Requests name it as their model." />
        <TextField
          label="Adapter files"
          value={source}
          onChange={setSource}
          isCode
          placeholder="s3://…/legal-adapter/"
          hint="A folder in your organization's folder, with adapter_config.json and adapter_model.safetensors as PEFT saves them."
        />
      </Form>
    </Dialog>
  );
};

const DeleteAdapter = ({ adapter: { id: adapter, name }, deployment: { id }, onClose }: AdapterDialogProps & { adapter: Adapter }) => (
  <Confirm
    title={`Delete ${name}`}
    action="Delete adapter"
    typed={name}
    onClose={onClose}
    onConfirm={async () => {
      await request('DELETE /v1/deployments/{id}/adapters/{adapter}', { parameters: { id, adapter } });
      await readAgain(ADAPTERS_PATH);
    }}
  >
    <p>
      Within 30 seconds, requests to {name} return 404, and requests in progress may fail. The deployment and its other adapters keep
      running. The adapter's files stay in your folder.
    </p>
  </Confirm>
);

const columnsOf = (onDelete: ((adapter: Adapter) => void) | undefined, hasSurcharge: boolean) => [
  { title: 'Name', isWhole: true, render: ({ name }: Adapter) => <code>{name}</code> },
  { title: 'State', isWhole: true, render: ({ state }: Adapter) => <Chip state={state} /> },
  {
    title: 'Details',
    isLong: true,
    render: ({ state, reason }: Adapter) => (reason ? <ReasonText reason={reason} /> : (NOTES[state] ?? '–')),
  },
  { title: 'Rank', isNumeric: true, render: ({ rank }: Adapter) => <Count value={rank} /> },
  { title: 'Size (bytes)', isNumeric: true, render: ({ bytes }: Adapter) => <Count value={bytes} /> },
  ...(hasSurcharge
    ? [
        {
          title: 'Surcharge',
          isWhole: true,
          render: ({ surcharge }: Adapter) =>
            surcharge
              ? `${formatMoney(surcharge.per_million.prompt)} in, ${formatMoney(surcharge.per_million.completion)} out, per million tokens`
              : '–',
        },
      ]
    : []),
  { title: 'Added', isWhole: true, render: ({ created_at }: Adapter) => <Time seconds={created_at} /> },
  ...(onDelete
    ? [
        {
          title: 'Actions',
          isWhole: true,
          render: (adapter: Adapter) =>
            adapter.state !== 'deleting' && (
              <Button aria-label={`Delete ${adapter.name}`} onClick={() => onDelete(adapter)}>
                Delete
              </Button>
            ),
        },
      ]
    : []),
];

type Opened = 'add' | Adapter;

/** The LoRA adapters of a deployment whose containers can load some. */
export const Adapters = ({ deployment }: { deployment: Deployment }) => {
  const me = useSignedIn();
  const [opened, setOpened] = useState<Opened>();
  const query = useRead('GET /v1/deployments/{id}/adapters', { parameters: { id: deployment.id } }, { refetchMs: REFETCH_MS });
  const canWrite = can(me, 'deployments:write') && deployment.state !== 'deleting' && deployment.state !== 'deleted';
  const close = () => setOpened(undefined);
  const add = canWrite && <Button onClick={() => setOpened('add')}>Add adapter</Button>;
  return (
    <Section title="Adapters" actions={add}>
      <Loaded query={query}>
        {({ data }) =>
          data.length === 0 ? (
            <Empty title="No adapters">
              <p>An adapter is a small LoRA fine-tuning that this deployment serves on its GPUs under its own name.</p>
            </Empty>
          ) : (
            <Table
              label="All adapters"
              rows={data}
              keyOf={({ id }) => id}
              columns={columnsOf(
                canWrite ? setOpened : undefined,
                data.some(({ surcharge }) => surcharge !== null),
              )}
            />
          )
        }
      </Loaded>
      {opened === 'add' && <AddAdapter deployment={deployment} onClose={close} />}
      {opened !== undefined && opened !== 'add' && <DeleteAdapter adapter={opened} deployment={deployment} onClose={close} />}
    </Section>
  );
};
