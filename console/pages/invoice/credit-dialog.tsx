import { useState } from 'react';
import { request } from '../../client/request.ts';
import { Segments, TextArea, TextField } from '../../design/controls/fields.tsx';
import { Money } from '../../design/data/values.tsx';
import { formatAmount } from '../../design/format/amounts.ts';
import { ownCurrency } from '../../design/format/currency.ts';
import { Confirm } from '../../design/forms/confirm.tsx';
import { creditable } from '../invoices/invoice-state.ts';
import { afterChange, type InvoiceDialogProps } from './dialog-props.ts';
import { leftAfter } from './line-groups.ts';

const MOST_DECIMALS = 9;

/** Credits an invoice, or a part of it. A repeated attempt doesn't credit it again. */
export const CreditDialog = ({ invoice, onClose }: InvoiceDialogProps) => {
  const { id, number, buyer, currency } = invoice;
  const [extent, setExtent] = useState<'part' | 'whole'>('part');
  const [typed, setTyped] = useState('');
  const [reason, setReason] = useState('');
  const most = creditable(invoice);
  const own = ownCurrency();
  // Invoices keep their currency if the seller gets another one. The API checks the amount.
  const decimals = currency === own.code ? own.decimals : MOST_DECIMALS;
  const amount = extent === 'whole' ? most : typed.trim();
  const left = leftAfter(most, amount, extent === 'whole' ? MOST_DECIMALS : decimals);
  return (
    <Confirm
      title={`Create credit note for ${number}`}
      action="Create credit note"
      canConfirm={left !== undefined && reason.trim() !== ''}
      onClose={onClose}
      onConfirm={({ idempotencyKey }) =>
        afterChange(
          request('POST /v1/billing/invoices/{id}/credit-notes', {
            parameters: { id },
            body: { ...(extent === 'whole' ? { whole: true } : { amount }), reason: reason.trim() },
            idempotencyKey,
          }),
        )
      }
    >
      <Segments
        label="Credit"
        value={extent}
        choices={[
          ['part', 'Part of the invoice'],
          ['whole', `All of ${formatAmount(most)} ${currency}`],
        ]}
        onChange={setExtent}
      />
      {extent === 'part' && (
        <TextField
          label={`Amount in ${currency}`}
          inputMode="decimal"
          value={typed}
          onChange={setTyped}
          fault={
            typed !== '' && left === undefined
              ? `Enter an amount up to ${formatAmount(most)}, ${decimals === 0 ? 'without decimals' : `with at most ${decimals} decimals`}.`
              : undefined
          }
          autoFocus
        />
      )}
      <TextArea label="Reason" hint="Printed on the credit note." value={reason} onChange={setReason} maxLength={500} />
      {left !== undefined && (
        <p>
          {buyer.legal_name} gets a credit note of <Money amount={amount} currency={currency} />, and is notified.{' '}
          <Money amount={left} currency={currency} /> of the invoice remains. A credit note can't be changed or undone.
        </p>
      )}
    </Confirm>
  );
};
