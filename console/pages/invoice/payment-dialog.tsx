import { useState } from 'react';
import { request } from '../../client/request.ts';
import { TextField } from '../../design/controls/fields.tsx';
import { Money } from '../../design/data/values.tsx';
import { formatDay, utcSeconds } from '../../design/format/times.ts';
import { Confirm } from '../../design/forms/confirm.tsx';
import { creditable } from '../invoices/invoice-state.ts';
import { afterChange, changeInvoice, type InvoiceDialogProps } from './dialog-props.ts';

/** Records that an invoice was paid. */
export const PaymentDialog = ({ invoice, onClose }: InvoiceDialogProps) => {
  const { id, number, buyer, currency, issued_at } = invoice;
  const today = formatDay(Date.now() / 1_000);
  const [day, setDay] = useState(today);
  const [reference, setReference] = useState('');
  // For today, the API uses the current time: midnight could be before the invoice was issued.
  const paid_at = day === today ? undefined : utcSeconds(day);
  const pay = (version: number) =>
    request('POST /v1/billing/invoices/{id}/pay', {
      parameters: { id },
      body: { ...(paid_at !== undefined && { paid_at }), ...(reference.trim() && { reference: reference.trim() }) },
      version,
    });
  return (
    <Confirm
      title={`Record payment for ${number}`}
      action="Record payment"
      look="primary"
      canConfirm={day !== ''}
      onClose={onClose}
      onConfirm={() => afterChange(changeInvoice(invoice, pay))}
    >
      <p>
        {buyer.legal_name} has paid <Money amount={creditable(invoice)} currency={currency} />, and is notified. A payment can't be undone.
      </p>
      <TextField
        label="Paid on (UTC)"
        type="date"
        value={day}
        onChange={setDay}
        max={today}
        {...(issued_at !== null && { min: formatDay(issued_at) })}
      />
      <TextField
        label="Reference"
        hint="For example, of a bank transfer."
        value={reference}
        onChange={setReference}
        maxLength={200}
        autoFocus
      />
    </Confirm>
  );
};
