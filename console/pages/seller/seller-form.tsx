import { ApiFailure } from '../../client/api-failure.ts';
import { readAgain } from '../../client/queries.ts';
import { request } from '../../client/request.ts';
import { SelectField, TextArea, TextField } from '../../design/controls/fields.tsx';
import { VersionedForm } from '../../design/forms/versioned-form.tsx';
import { Section, ShortFields, Stack } from '../../design/layout/layout.tsx';
import {
  canSave,
  draftOfSeller,
  faultsOfSeller,
  SELLER_LABELS as LABELS,
  NO_SELLER,
  type Seller,
  type SellerDraft,
  sellerOf,
} from './seller-draft.ts';

interface PartProps {
  draft: SellerDraft;
  change: (changes: Partial<SellerDraft>) => void;
}

// Reads the seller; one that is not set has version 0.
const readSeller = (): Promise<Seller> =>
  request('GET /v1/billing/seller', {}).catch((failure: unknown) => {
    if (failure instanceof ApiFailure && failure.status === 404) return NO_SELLER;
    throw failure;
  });

const Company = ({ draft, change }: PartProps) => {
  const faults = faultsOfSeller(draft);
  return (
    <Section title="Company" isCard>
      <TextField label={LABELS.legalName} value={draft.legalName} onChange={(legalName) => change({ legalName })} maxLength={200} />
      <TextArea
        label={LABELS.address}
        hint="As printed on invoices, up to six lines."
        value={draft.address}
        onChange={(address) => change({ address })}
        rows={3}
      />
      <ShortFields>
        <TextField
          label={LABELS.country}
          fault={faults.country}
          value={draft.country}
          onChange={(country) => change({ country })}
          maxLength={2}
        />
        <TextField label={LABELS.taxId} value={draft.taxId} onChange={(taxId) => change({ taxId })} maxLength={50} />
        <TextField label={LABELS.email} type="email" value={draft.email} onChange={(email) => change({ email })} />
      </ShortFields>
    </Section>
  );
};

const Payment = ({ draft, change }: PartProps) => {
  const faults = faultsOfSeller(draft);
  return (
    <Section title="Payment" isCard>
      <ShortFields>
        <TextField
          label={LABELS.currency}
          hint="A change converts nothing: all amounts keep their numbers. First issue or delete all drafts."
          fault={faults.currency}
          value={draft.currency}
          onChange={(currency) => change({ currency })}
          maxLength={3}
        />
        <TextField
          label={LABELS.currencySymbol}
          value={draft.currencySymbol}
          onChange={(currencySymbol) => change({ currencySymbol })}
          maxLength={4}
        />
        <TextField
          label={LABELS.paymentTermsDays}
          fault={faults.paymentTermsDays}
          value={draft.paymentTermsDays}
          onChange={(paymentTermsDays) => change({ paymentTermsDays })}
          inputMode="numeric"
        />
      </ShortFields>
      <TextArea
        label={LABELS.paymentInstructions}
        hint="Printed on invoices, such as a bank account."
        value={draft.paymentInstructions}
        onChange={(paymentInstructions) => change({ paymentInstructions })}
        rows={2}
      />
    </Section>
  );
};

const Invoices = ({ draft, change }: PartProps) => {
  const faults = faultsOfSeller(draft);
  return (
    <Section title="Invoices" isCard>
      <SelectField
        label={LABELS.issue}
        value={draft.issue}
        onChange={(issue) => change({ issue })}
        choices={[
          ['automatic', 'Automatically, when the month is closed'],
          ['manual', 'Manually, from drafts'],
        ]}
      />
      <ShortFields>
        <TextField
          label={LABELS.invoicePrefix}
          value={draft.invoicePrefix}
          onChange={(invoicePrefix) => change({ invoicePrefix })}
          maxLength={12}
          isCode
        />
        <TextField
          label={LABELS.creditNotePrefix}
          fault={faults.creditNotePrefix}
          value={draft.creditNotePrefix}
          onChange={(creditNotePrefix) => change({ creditNotePrefix })}
          maxLength={12}
          isCode
        />
      </ShortFields>
      <TextArea
        label={LABELS.invoiceNote}
        hint="Also on credit notes, such as a note about VAT."
        value={draft.invoiceNote}
        onChange={(invoiceNote) => change({ invoiceNote })}
        rows={2}
      />
    </Section>
  );
};

/** Sets the company that invoices come from. @param seller version 0: not set yet */
export const SellerForm = ({ seller, onSaved }: { seller: Seller; onSaved: () => void }) => (
  <VersionedForm
    thing={seller}
    draftOf={draftOfSeller}
    labels={LABELS}
    read={readSeller}
    submitLabel="Save seller"
    canSubmit={canSave}
    save={async (draft, { version }) => {
      await request('PUT /v1/billing/seller', { body: sellerOf(draft), version });
      await readAgain('/v1/billing/seller', '/v1/me');
      onSaved();
    }}
  >
    {(draft, change) => (
      <Stack>
        <Company draft={draft} change={change} />
        <Payment draft={draft} change={change} />
        <Invoices draft={draft} change={change} />
      </Stack>
    )}
  </VersionedForm>
);
