import { type ReactNode, useState } from 'react';
import { readAgain } from '../../client/queries.ts';
import { request } from '../../client/request.ts';
import { TextField } from '../../design/controls/fields.tsx';
import { Dialog } from '../../design/feedback/dialog.tsx';
import { faultOfMoney, isMoney, MOST_PER_UNIT } from '../../design/format/amounts.ts';
import { ownCurrency } from '../../design/format/currency.ts';
import { utcSeconds } from '../../design/format/times.ts';
import { Confirm } from '../../design/forms/confirm.tsx';
import { Form } from '../../design/forms/form.tsx';
import { ShortFields } from '../../design/layout/layout.tsx';
import type { InstanceType } from '../deployments/hour-cost.ts';

interface TypeDialogProps {
  type: InstanceType;
  onClose: () => void;
}

const readNow = () => readAgain('/v1/instance-types');

/** Registers an instance type of SageMaker. */
export const AddInstanceType = ({ onClose }: { onClose: () => void }) => {
  const [id, setId] = useState('');
  const [accelerator, setAccelerator] = useState('');
  const [accelerators, setAccelerators] = useState('1');
  const [acceleratorMemory, setAcceleratorMemory] = useState('');
  const [memory, setMemory] = useState('');
  const isFull =
    [id, accelerator].every((text) => text.trim() !== '') && [accelerators, acceleratorMemory, memory].every((text) => Number(text) > 0);
  return (
    <Dialog title="Register instance type" onClose={onClose}>
      <p>
        Deployments can use it once it has a price. Take these values from the AWS page of the instance type: they can't be changed later.
      </p>
      <Form
        submitLabel="Register instance type"
        canSubmit={isFull}
        onCancel={onClose}
        onSubmit={async () => {
          await request('POST /v1/instance-types', {
            body: {
              id: id.trim(),
              accelerator: accelerator.trim(),
              accelerators: Number(accelerators),
              accelerator_memory_gib: Number(acceleratorMemory),
              memory_gib: Number(memory),
            },
          });
          await readNow();
          onClose();
        }}
      >
        <TextField label="Instance type" value={id} onChange={setId} placeholder="ml.g7.2xlarge" isCode autoFocus />
        <TextField label="Accelerator" value={accelerator} onChange={setAccelerator} placeholder="NVIDIA RTX PRO 6000" />
        <ShortFields>
          <TextField label="Accelerators" value={accelerators} onChange={setAccelerators} inputMode="numeric" />
          <TextField label="Memory of each, GiB" value={acceleratorMemory} onChange={setAcceleratorMemory} inputMode="decimal" />
          <TextField label="Memory of the instance, GiB" value={memory} onChange={setMemory} inputMode="decimal" />
        </ShortFields>
      </Form>
    </Dialog>
  );
};

interface VersionDialogProps extends TypeDialogProps {
  kind: 'price' | 'cost';
  current: string | undefined;
  children: ReactNode;
}

const AddVersion = ({ type: { id, version }, kind, current = '', children, onClose }: VersionDialogProps) => {
  const [perHour, setPerHour] = useState(current);
  const [from, setFrom] = useState('');
  const effective_at = utcSeconds(from);
  return (
    <Dialog title={`Add a ${kind} to ${id}`} onClose={onClose}>
      <p>{children}</p>
      <Form
        submitLabel={`Add ${kind}`}
        canSubmit={isMoney(perHour, MOST_PER_UNIT)}
        onCancel={onClose}
        onSubmit={async () => {
          await request(`POST /v1/instance-types/{id}/${kind}s`, {
            parameters: { id },
            body: { per_hour: perHour, ...(effective_at !== undefined && { effective_at }) },
            version,
          });
          await readNow();
          onClose();
        }}
      >
        <ShortFields>
          <TextField
            label={`${ownCurrency().code} per hour`}
            value={perHour}
            onChange={setPerHour}
            fault={faultOfMoney(perHour, '1.41', MOST_PER_UNIT)}
            inputMode="decimal"
            autoFocus
          />
          <TextField label="From (UTC)" type="datetime-local" value={from} onChange={setFrom} hint="Leave empty to start now." />
        </ShortFields>
      </Form>
    </Dialog>
  );
};

/** Adds a price version to an instance type. */
export const AddInstancePrice = (props: TypeDialogProps) => (
  <AddVersion {...props} kind="price" current={props.type.price?.per_hour}>
    A price version can't be changed or removed. Each second of GPU time is charged at the price in effect, to every organization whose
    deployments run on this type.
  </AddVersion>
);

/** Adds a version of what an instance costs the platform. */
export const AddInstanceCost = (props: TypeDialogProps) => (
  <AddVersion {...props} kind="cost" current={props.type.costs?.[0]?.per_hour}>
    Your own cost per hour of this type. It is not charged to anyone, and only the platform sees it, under Economics. It can start in the
    past, and can't be changed or removed.
  </AddVersion>
);

/** Retires an instance type, or offers it again. */
export const ChangeTypeStatus = ({ type: { id, status, version }, onClose }: TypeDialogProps) => {
  const retires = status === 'available';
  return (
    <Confirm
      title={retires ? `Retire ${id}` : `Offer ${id} again`}
      action={retires ? 'Retire instance type' : 'Offer instance type'}
      look={retires ? 'danger' : 'primary'}
      onClose={onClose}
      onConfirm={async () => {
        await request('PATCH /v1/instance-types/{id}', {
          parameters: { id },
          body: { status: retires ? 'retired' : 'available' },
          version,
        });
        await readNow();
      }}
    >
      <p>
        {retires
          ? "New deployments and generations can't use it. Deployments that use it now keep running at its price."
          : 'New deployments and generations can use it, if it has a price.'}
      </p>
    </Confirm>
  );
};
