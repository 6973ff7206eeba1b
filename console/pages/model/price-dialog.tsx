import { useState } from 'react';
import { readAgain } from '../../client/queries.ts';
import { request } from '../../client/request.ts';
import { TextField } from '../../design/controls/fields.tsx';
import { Dialog } from '../../design/feedback/dialog.tsx';
import { perMillion } from '../../design/format/amounts.ts';
import { utcSeconds } from '../../design/format/times.ts';
import { Form } from '../../design/forms/form.tsx';
import type { Model } from './model-facts.tsx';
import { isPrice } from './price-draft.ts';

/** Adds a price version to a model. */
export const PriceDialog = ({ model: { name, organization, pricing }, onClose }: { model: Model; onClose: () => void }) => {
  const [input, setInput] = useState(pricing ? perMillion(pricing.prompt) : '');
  const [cached, setCached] = useState(pricing ? perMillion(pricing.cached_prompt) : '');
  const [output, setOutput] = useState(pricing ? perMillion(pricing.completion) : '');
  const [from, setFrom] = useState('');
  const faultOf = (text: string): string | undefined =>
    text === '' || isPrice(text) ? undefined : 'Enter dollars, such as 0.05, with at most nine decimals.';
  return (
    <Dialog title={`Add a price to ${name}`} onClose={onClose}>
      <p>A price version can't be changed or removed. It applies to requests from its time on, at most 30 s late.</p>
      <Form
        submitLabel="Add price"
        canSubmit={isPrice(input) && isPrice(output) && (cached === '' || isPrice(cached))}
        onCancel={onClose}
        onSubmit={async () => {
          const effective_at = utcSeconds(from);
          await request('POST /v1/prices', {
            body: {
              model: name,
              ...(organization !== null && { organization }),
              ...(effective_at !== undefined && { effective_at }),
              per_million: { prompt: input, ...(cached !== '' && { cached_prompt: cached }), completion: output },
            },
          });
          await readAgain('/v1/models', '/v1/pricing', '/v1/prices');
          onClose();
        }}
      >
        <TextField label="Input, dollars per million" value={input} onChange={setInput} inputMode="decimal" fault={faultOf(input)} />
        <TextField
          label="Cached input, dollars per million"
          hint="Empty: the price of other input."
          value={cached}
          onChange={setCached}
          inputMode="decimal"
          fault={faultOf(cached)}
        />
        <TextField label="Output, dollars per million" value={output} onChange={setOutput} inputMode="decimal" fault={faultOf(output)} />
        <TextField label="From (UTC)" hint="Empty: now." type="datetime-local" value={from} onChange={setFrom} />
      </Form>
    </Dialog>
  );
};
