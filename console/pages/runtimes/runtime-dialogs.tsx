import { useState } from 'react';
import { readAgain } from '../../client/queries.ts';
import { request } from '../../client/request.ts';
import type { ReplyBody, RequestBody } from '../../client/routes.ts';
import { SelectField, TextField } from '../../design/controls/fields.tsx';
import { Dialog } from '../../design/feedback/dialog.tsx';
import { Confirm } from '../../design/forms/confirm.tsx';
import { Form } from '../../design/forms/form.tsx';
import { VersionedForm } from '../../design/forms/versioned-form.tsx';

export type Runtime = ReplyBody<'GET /v1/runtimes'>['data'][number];
type Dialect = NonNullable<RequestBody<'POST /v1/runtimes'>['dialect']>;

const DIALECTS: readonly (readonly [Dialect, string])[] = [
  ['vllm', 'vLLM'],
  ['sluice', "Sluice's own container"],
  ['llama_cpp', "llama.cpp's server"],
  ['transformers', 'transformers serve'],
];
const AMI_HINT = "SageMaker's InferenceAmiVersion, which determines the GPU driver. Leave empty to use the AMI of the instance type.";

interface RuntimeDialogProps {
  runtime: Runtime;
  onClose: () => void;
}

const readNow = () => readAgain('/v1/runtimes');

/** Registers an image that deployments can run. */
export const AddRuntime = ({ onClose }: { onClose: () => void }) => {
  const [id, setId] = useState('');
  const [image, setImage] = useState('');
  const [description, setDescription] = useState('');
  const [ami, setAmi] = useState('');
  const [dialect, setDialect] = useState<Dialect>('vllm');
  return (
    <Dialog title="Register runtime" onClose={onClose}>
      <Form
        submitLabel="Register runtime"
        canSubmit={id.trim() !== '' && image.trim() !== ''}
        onCancel={onClose}
        onSubmit={async () => {
          await request('POST /v1/runtimes', {
            body: { id: id.trim(), image: image.trim(), description, dialect, ...(ami.trim() !== '' && { ami: ami.trim() }) },
          });
          await readNow();
          onClose();
        }}
      >
        <TextField
          label="Id"
          value={id}
          onChange={setId}
          placeholder="vllm-0.30.0-patched"
          hint="Deployments refer to it. You can't change it later."
          isCode
          autoFocus
        />
        <TextField
          label="Image"
          value={image}
          onChange={setImage}
          placeholder="vllm:server-sagemaker-cuda-v2.5"
          hint="An image of AWS Deep Learning Containers or of an ECR registry, with an exact tag or a digest. You can't change it later."
          isCode
        />
        <TextField
          label="Description"
          value={description}
          onChange={setDescription}
          hint="Shown to users who deploy a model."
          maxLength={200}
        />
        <SelectField label="Request format" value={dialect} onChange={setDialect} choices={DIALECTS} />
        <TextField label="AMI" value={ami} onChange={setAmi} hint={AMI_HINT} isCode />
      </Form>
    </Dialog>
  );
};

const draftOf = ({ description, ami }: Runtime) => ({ description, ami: ami ?? '' });
const LABELS = { description: 'Description', ami: 'AMI' } as const;

/** Changes the description and the AMI of a runtime. */
export const EditRuntime = ({ runtime, onClose }: RuntimeDialogProps) => {
  const { id } = runtime;
  return (
    <Dialog title={`Edit ${id}`} onClose={onClose}>
      <p>The changes apply to new deployments and generations. Existing ones keep their settings.</p>
      <VersionedForm
        thing={runtime}
        draftOf={draftOf}
        labels={LABELS}
        read={() => request('GET /v1/runtimes/{id}', { parameters: { id } })}
        submitLabel="Save runtime"
        onCancel={onClose}
        save={async ({ description, ami }, { version }) => {
          await request('PATCH /v1/runtimes/{id}', { parameters: { id }, body: { description, ami: ami.trim() || null }, version });
          await readNow();
          onClose();
        }}
      >
        {({ description, ami }, change) => (
          <>
            <TextField label={LABELS.description} value={description} onChange={(text) => change({ description: text })} maxLength={200} />
            <TextField label={LABELS.ami} value={ami} onChange={(text) => change({ ami: text })} hint={AMI_HINT} isCode />
          </>
        )}
      </VersionedForm>
    </Dialog>
  );
};

/** Retires a runtime, or offers it again. */
export const ChangeStatus = ({ runtime: { id, status, version }, onClose }: RuntimeDialogProps) => {
  const retires = status === 'available';
  return (
    <Confirm
      title={retires ? `Retire ${id}` : `Offer ${id} again`}
      action={retires ? 'Retire runtime' : 'Offer runtime'}
      look={retires ? 'danger' : 'primary'}
      onClose={onClose}
      onConfirm={async () => {
        await request('PATCH /v1/runtimes/{id}', { parameters: { id }, body: { status: retires ? 'retired' : 'available' }, version });
        await readNow();
      }}
    >
      <p>
        {retires
          ? "New deployments and generations can't use it. Existing ones keep it, and their callers aren't affected."
          : 'New deployments and generations can use it.'}
      </p>
    </Confirm>
  );
};
