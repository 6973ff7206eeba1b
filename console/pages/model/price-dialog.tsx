import { useState } from 'react';
import { readAgain } from '../../client/queries.ts';
import { request, requestTrial } from '../../client/request.ts';
import { TextField } from '../../design/controls/fields.tsx';
import { Dialog } from '../../design/feedback/dialog.tsx';
import { Notice } from '../../design/feedback/failure.tsx';
import { isDollars } from '../../design/format/amounts.ts';
import { Form } from '../../design/forms/form.tsx';
import { draftOfPrice, isCompletePrice, newPriceOf, type PriceDraft, type PricedModel } from './price-draft.ts';
import { PriceChange, type PricePreview } from './price-preview.tsx';

const PriceFields = ({ draft, onChange }: { draft: PriceDraft; onChange: (changes: Partial<PriceDraft>) => void }) => {
  const { input, cached, output, from } = draft;
  const faultOf = (text: string): string | undefined =>
    text === '' || isDollars(text) ? undefined : 'Enter dollars, such as 0.05, with at most nine decimals.';
  return (
    <>
      <TextField
        label="Input, dollars per million"
        value={input}
        onChange={(text) => onChange({ input: text })}
        inputMode="decimal"
        fault={faultOf(input)}
      />
      <TextField
        label="Cached input, dollars per million"
        hint="Empty: the price of other input."
        value={cached}
        onChange={(text) => onChange({ cached: text })}
        inputMode="decimal"
        fault={faultOf(cached)}
      />
      <TextField
        label="Output, dollars per million"
        value={output}
        onChange={(text) => onChange({ output: text })}
        inputMode="decimal"
        fault={faultOf(output)}
      />
      <TextField label="From (UTC)" hint="Empty: now." type="datetime-local" value={from} onChange={(text) => onChange({ from: text })} />
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
      <Dialog title={`Add this price to ${model.name}?`} onClose={onClose}>
        <PriceChange preview={preview} />
        <Notice tone="warn">A price version can’t be changed or removed. It applies from its time on, at most 30 s late.</Notice>
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
    <Dialog title={`Add a price to ${model.name}`} onClose={onClose}>
      <Form
        submitLabel="Show what changes"
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
