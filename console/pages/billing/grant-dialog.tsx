import { useState } from 'react';
import { readAgain } from '../../client/queries.ts';
import { request } from '../../client/request.ts';
import { TextArea, TextField } from '../../design/controls/fields.tsx';
import { Money } from '../../design/data/values.tsx';
import { dayOf, utcSeconds } from '../../design/format/times.ts';
import { Confirm } from '../../design/forms/confirm.tsx';
import { isCredit } from './grant-draft.ts';

const DAY_S = 86_400;

/** Grants an organization credit, or deducts some. A repeated attempt doesn't do it again. */
export const GrantDialog = ({ id, onClose }: { id: string; onClose: () => void }) => {
  const [typed, setTyped] = useState('');
  const [reason, setReason] = useState('');
  const [end, setEnd] = useState('');
  const amount = typed.trim();
  const isDeduction = amount.startsWith('-');
  const expires_at = isDeduction ? undefined : utcSeconds(end);
  return (
    <Confirm
      title="Grant credit"
      action={isDeduction ? 'Deduct credit' : 'Grant credit'}
      look={isDeduction ? 'danger' : 'primary'}
      canConfirm={isCredit(amount) && reason.trim() !== ''}
      onClose={onClose}
      onConfirm={async ({ idempotencyKey }) => {
        await request('POST /v1/organizations/{id}/credit-grants', {
          parameters: { id },
          body: { amount, reason: reason.trim(), ...(expires_at !== undefined && { expires_at }) },
          idempotencyKey,
        });
        await readAgain('/v1/organizations', '/v1/summary');
      }}
    >
      <TextField
        label="Amount in dollars"
        hint="A negative amount deducts credit."
        value={typed}
        onChange={setTyped}
        fault={typed === '' || isCredit(amount) ? undefined : 'Enter dollars other than zero, such as 100 or -12.50.'}
        autoFocus
      />
      <TextArea
        label="Reason"
        hint="Such as the reference of a payment. The organization sees it."
        value={reason}
        onChange={setReason}
        maxLength={500}
      />
      {!isDeduction && (
        <TextField
          label="Ends at the beginning of (UTC)"
          hint="Empty: never."
          type="date"
          min={dayOf(Date.now() / 1_000 + DAY_S)}
          value={end}
          onChange={setEnd}
        />
      )}
      {isCredit(amount) && (
        <p>
          <code>{id}</code> {isDeduction ? 'loses' : 'gets'} <Money amount={amount.replace('-', '')} /> of credit at once. Entries of the
          ledger can't be changed; another entry can correct this one.
        </p>
      )}
    </Confirm>
  );
};
