import { useState } from 'react';
import { request } from '../../client/request.ts';
import { TextArea } from '../../design/controls/fields.tsx';
import { Money } from '../../design/data/values.tsx';
import { Confirm } from '../../design/forms/confirm.tsx';
import { monthName } from '../invoices/invoice-state.ts';
import { afterChange, changeInvoice, type InvoiceDialogProps } from './dialog-props.ts';

/** Issues a draft. */
export const IssueDialog = ({ invoice: { id, version, buyer, month, total, currency }, onClose }: InvoiceDialogProps) => (
  <Confirm
    title="Issue invoice"
    action="Issue invoice"
    look="primary"
    onClose={onClose}
    onConfirm={() => afterChange(request('POST /v1/billing/invoices/{id}/issue', { parameters: { id }, version }))}
  >
    <p>
      {buyer.legal_name} is billed <Money amount={total} currency={currency} /> for {monthName(month)}. The invoice gets the next number,
      and the customer is notified and can download it. An issued invoice can't be changed.
    </p>
  </Confirm>
);

/** Deletes a draft, which its customer has never seen. */
export const DeleteDraft = ({ invoice: { id, version, buyer, month, total, currency }, onClose }: InvoiceDialogProps) => (
  <Confirm
    title="Delete draft"
    action="Delete draft"
    onClose={onClose}
    onConfirm={() => afterChange(request('DELETE /v1/billing/invoices/{id}', { parameters: { id }, version }))}
  >
    <p>
      The draft of <Money amount={total} currency={currency} /> for {buyer.legal_name} becomes void. The usage of {monthName(month)} is then
      not billed until you close the month again. The customer is not notified.
    </p>
  </Confirm>
);

/** Makes an issued invoice void. */
export const VoidDialog = ({ invoice, onClose }: InvoiceDialogProps) => {
  const { id, number, buyer, month, total, currency } = invoice;
  const [reason, setReason] = useState('');
  const makeVoid = (version: number) =>
    request('POST /v1/billing/invoices/{id}/void', { parameters: { id }, body: { reason: reason.trim() }, version });
  return (
    <Confirm
      title={`Void ${number}`}
      action="Void invoice"
      typed={number ?? id}
      canConfirm={reason.trim() !== ''}
      onClose={onClose}
      onConfirm={() => afterChange(changeInvoice(invoice, makeVoid))}
    >
      <p>
        {buyer.legal_name} no longer owes <Money amount={total} currency={currency} />, and is notified. The invoice number is not used
        again. The usage of {monthName(month)} is not billed until you close the month again.
      </p>
      <TextArea label="Reason" hint="The customer sees it." value={reason} onChange={setReason} maxLength={500} autoFocus />
    </Confirm>
  );
};

/** Makes another invoice for the month of a void one. */
export const CloseAgain = ({ invoice: { organization, month, buyer }, onClose }: InvoiceDialogProps) => (
  <Confirm
    title={`Close ${monthName(month)} again`}
    action="Close month"
    look="primary"
    onClose={onClose}
    onConfirm={() => afterChange(request('POST /v1/billing/invoices', { body: { organization, month } }))}
  >
    <p>
      A new invoice is created from the usage of {buyer.legal_name} in {monthName(month)}. It appears in the list of invoices after a while:
      as a draft, or issued if the seller's invoices are issued automatically.
    </p>
  </Confirm>
);
