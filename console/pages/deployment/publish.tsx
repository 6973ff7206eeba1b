import { useState } from 'react';
import { readAgain } from '../../client/queries.ts';
import { request } from '../../client/request.ts';
import { CheckField, TextField } from '../../design/controls/fields.tsx';
import { Dialog } from '../../design/feedback/dialog.tsx';
import { faultOfMoney, isMoney, MOST_PER_UNIT } from '../../design/format/amounts.ts';
import { ownCurrency } from '../../design/format/currency.ts';
import { Confirm } from '../../design/forms/confirm.tsx';
import { Form } from '../../design/forms/form.tsx';
import { ShortFields } from '../../design/layout/layout.tsx';
import type { Deployment } from '../deployments/deployment-state.ts';

interface PublishProps {
  deployment: Deployment;
  onClose: () => void;
}

const changed = () => readAgain('/v1/deployments', '/v1/models', '/v1/pricing');

const faultOf = (text: string): string | undefined => faultOfMoney(text, '0.05', MOST_PER_UNIT);

/** Makes a shared model of a deployment, which callers of the serverless host pay by the token. */
export const PublishDeployment = ({ deployment: { id, name, version }, onClose }: PublishProps) => {
  const [publicName, setName] = useState(name);
  const [input, setInput] = useState('');
  const [output, setOutput] = useState('');
  const [acceptsFailed, setAccepts] = useState(false);
  return (
    <Dialog title={`Publish ${name}`} onClose={onClose}>
      <p>
        Within 30 seconds, all organizations can call it as a shared model and pay for its tokens. Its own organization still pays for its
        GPU time.
      </p>
      <Form
        submitLabel="Publish deployment"
        canSubmit={publicName.trim() !== '' && [input, output].every((price) => isMoney(price, MOST_PER_UNIT))}
        onCancel={onClose}
        onSubmit={async () => {
          await request('POST /v1/deployments/{id}/publish', {
            parameters: { id },
            version,
            body: {
              name: publicName.trim(),
              prices: [{ per_million: { prompt: input, completion: output } }],
              accept_failed_checks: acceptsFailed,
            },
          });
          await changed();
          onClose();
        }}
      >
        <TextField label="Name of the shared model" value={publicName} onChange={setName} isCode />
        <ShortFields>
          <TextField
            label={`Input price per 1M tokens (${ownCurrency().code})`}
            value={input}
            onChange={setInput}
            fault={faultOf(input)}
            inputMode="decimal"
          />
          <TextField
            label={`Output price per 1M tokens (${ownCurrency().code})`}
            value={output}
            onChange={setOutput}
            fault={faultOf(output)}
            inputMode="decimal"
          />
        </ShortFields>
        <CheckField
          label="Publish even if a check fails"
          hint="Its targets get the same checks as when a model is registered."
          checked={acceptsFailed}
          onChange={setAccepts}
        />
      </Form>
    </Dialog>
  );
};

/** Takes a shared model back. */
export const UnpublishDeployment = ({ deployment: { id, published_as: shared, version }, onClose }: PublishProps) => (
  <Confirm
    title={`Unpublish ${shared}`}
    action="Unpublish deployment"
    typed={shared ?? ''}
    onClose={onClose}
    onConfirm={async () => {
      await request('POST /v1/deployments/{id}/unpublish', { parameters: { id }, version });
      await changed();
    }}
  >
    <p>Within 30 seconds, requests to the shared model {shared} return 404. The deployment keeps running for its own organization.</p>
  </Confirm>
);
