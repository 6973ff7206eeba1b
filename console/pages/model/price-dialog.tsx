import { useState } from 'react';
import { readAgain } from '../../client/queries.ts';
import { request, requestTrial } from '../../client/request.ts';
import { TextField } from '../../design/controls/fields.tsx';
import { Dialog } from '../../design/feedback/dialog.tsx';
import { Notice } from '../../design/feedback/failure.tsx';
import { faultOfMoney, MOST_PER_UNIT } from '../../design/format/amounts.ts';
import { ownCurrency } from '../../design/format/currency.ts';
import { Form } from '../../design/forms/form.tsx';
import { draftOfPrice, isCompletePrice, newPriceOf, type PriceDraft, type PricedModel } from './price-draft.ts';
import { PriceChange, type PricePreview } from './price-preview.tsx';

const PriceFields = ({ draft, onChange }: { draft: PriceDraft; onChange: (changes: Partial<PriceDraft>) => void }) => {
  const { input, cached, output, from } = draft;
  const faultOf = (text: string): string | undefined => faultOfMoney(text, '0.05', MOST_PER_UNIT);
  const unit = `(${ownCurrency().symbol} per million tokens)`;
  return (
    <>
      <TextField
        label={`Input ${unit}`}
        value={input}
        onChange={(text) => onChange({ input: text })}
        inputMode="decimal"
        fault={faultOf(input)}
      />
      <TextField
        label={`Cached input ${unit}`}
        hint="Leave empty to use the input price."
        value={cached}
        onChange={(text) => onChange({ cached: text })}
        inputMode="decimal"
        fault={faultOf(cached)}
      />
      <TextField
        label={`Output ${unit}`}
        value={output}
        onChange={(text) => onChange({ output: text })}
        inputMode="decimal"
        fault={faultOf(output)}
      />
      <TextField
        label="Effective from (UTC)"
        hint="Leave empty for now."
        type="datetime-local"
        value={from}
        onChange={(text) => onChange({ from: text })}
      />
    </>
  );
};

/** Adds a price version to a model, after it has shown what changes. */
export const PriceDialog = ({ model, onClose }: { model: PricedModel; onClose: () => void }) => {
  const [draft, setDraft] = useState(() => draftOfPrice(model));
  const [preview, setPreview] = useState<PricePreview>();
  const body = newPriceOf(model, draft);
  if (preview)
    return (
      <Dialog title={`Confirm price of ${model.name}`} onClose={onClose}>
        <PriceChange preview={preview} />
        <Notice tone="warn">You can't change or remove a price version. It takes effect within 30 s of its start time.</Notice>
        <Form
          submitLabel="Add price"
          onCancel={() => setPreview(undefined)}
          onSubmit={async () => {
            await request('POST /v1/prices', { body });
            await readAgain('/v1/models', '/v1/pricing', '/v1/prices');
            onClose();
          }}
        >
          {null}
        </Form>
      </Dialog>
    );
  return (
    <Dialog title={`Add price to ${model.name}`} onClose={onClose}>
      <Form
        submitLabel="Review price"
        canSubmit={isCompletePrice(draft)}
        onCancel={onClose}
        onSubmit={async () => {
          setPreview(await requestTrial('POST /v1/prices', { body }));
        }}
      >
        <PriceFields draft={draft} onChange={(changes) => setDraft((was) => ({ ...was, ...changes }))} />
      </Form>
    </Dialog>
  );
};
