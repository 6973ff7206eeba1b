import { useState } from 'react';
import { can, useSignedIn } from '../../client/me.ts';
import { Button } from '../../design/controls/button.tsx';
import { DownloadButton } from '../../design/forms/download-button.tsx';
import { creditable } from '../invoices/invoice-state.ts';
import { CreditDialog } from './credit-dialog.tsx';
import { CloseAgain, DeleteDraft, IssueDialog, VoidDialog } from './end-dialogs.tsx';
import { invoiceFile } from './files.tsx';
import type { Invoice } from './invoice.ts';
import { PaymentDialog } from './payment-dialog.tsx';

const DIALOGS = {
  issue: IssueDialog,
  delete: DeleteDraft,
  pay: PaymentDialog,
  credit: CreditDialog,
  void: VoidDialog,
  close: CloseAgain,
} as const;
type Action = keyof typeof DIALOGS;

interface Offer {
  action: Action;
  label: string;
  isMain?: boolean;
}

const hasLeft = (invoice: Invoice): boolean => /[1-9]/.test(creditable(invoice));

const offersOf = (invoice: Invoice): readonly Offer[] => {
  switch (invoice.state) {
    case 'draft':
      return [
        { action: 'issue', label: 'Issue invoice', isMain: true },
        { action: 'delete', label: 'Delete draft' },
      ];
    case 'issued':
      return [
        { action: 'pay', label: 'Record payment', isMain: true },
        ...(hasLeft(invoice) ? [{ action: 'credit', label: 'Create credit note' } as const] : []),
        { action: 'void', label: 'Void invoice' },
      ];
    case 'paid':
      return hasLeft(invoice) ? [{ action: 'credit', label: 'Create credit note' }] : [];
    case 'void':
      return [{ action: 'close', label: 'Close the month again' }];
    default:
      // A state of a newer release.
      return [];
  }
};

/** The actions of the reader on an invoice in its state. */
export const InvoiceActions = ({ invoice }: { invoice: Invoice }) => {
  const me = useSignedIn();
  // A dialog acts on the version that it was opened with.
  const [chosen, setChosen] = useState<{ action: Action; invoice: Invoice }>();
  const offers = can(me, 'billing:issue') ? offersOf(invoice) : [];
  const Chosen = chosen && DIALOGS[chosen.action];
  return (
    <>
      {offers.map(({ action, label, isMain }) => (
        <Button key={action} {...(isMain && { look: 'primary' as const })} onClick={() => setChosen({ action, invoice })}>
          {label}
        </Button>
      ))}
      {invoice.number !== null && <DownloadButton label="Download PDF" read={() => invoiceFile(invoice.id, 'pdf')} />}
      {chosen && Chosen && <Chosen invoice={chosen.invoice} onClose={() => setChosen(undefined)} />}
    </>
  );
};
