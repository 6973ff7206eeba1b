import { useState } from 'react';
import { readAgain } from '../../client/queries.ts';
import { request } from '../../client/request.ts';
import { TextField } from '../../design/controls/fields.tsx';
import { Dialog } from '../../design/feedback/dialog.tsx';
import { ownCurrency } from '../../design/format/currency.ts';
import { utcSeconds } from '../../design/format/times.ts';
import { Form } from '../../design/forms/form.tsx';
import { faultOfCredit, faultOfExpiry } from './credit-amount.ts';
import type { Organization } from './limits-draft.ts';

interface CreditDialogProps {
  organization: Pick<Organization, 'id' | 'name'>;
  onClose: () => void;
}

/** Grants prepaid credit to an organization, or takes some back. */
export const CreditDialog = ({ organization: { id, name }, onClose }: CreditDialogProps) => {
  const [amount, setAmount] = useState('');
  const [reason, setReason] = useState('');
  const [expires, setExpires] = useState('');
  const expires_at = utcSeconds(expires);
  const expiryFault = faultOfExpiry(amount, expires_at, Date.now() / 1_000);
  return (
    <Dialog title={`Grant credit to ${name}`} onClose={onClose}>
      <Form
        submitLabel="Grant credit"
        canSubmit={amount !== '' && faultOfCredit(amount) === undefined && expiryFault === undefined && reason.trim() !== ''}
        onCancel={onClose}
        onSubmit={async ({ idempotencyKey }) => {
          await request('POST /v1/organizations/{id}/credit-grants', {
            parameters: { id },
            body: { amount, reason: reason.trim(), ...(expires_at !== undefined && { expires_at }) },
            idempotencyKey,
          });
          await readAgain('/v1/organizations', '/v1/summary');
          onClose();
        }}
      >
        <TextField
          label={`Amount (${ownCurrency().symbol})`}
          hint="A negative amount takes credit back."
          fault={faultOfCredit(amount)}
          value={amount}
          onChange={setAmount}
          inputMode="decimal"
          autoFocus
        />
        <TextField
          label="Reason"
          hint="The organization sees it in its ledger. For example, an invoice number."
          value={reason}
          onChange={setReason}
          maxLength={500}
        />
        <TextField
          label="Expires (UTC)"
          hint="Leave empty if the credit never expires."
          fault={expiryFault}
          type="date"
          value={expires}
          onChange={setExpires}
        />
      </Form>
    </Dialog>
  );
};
