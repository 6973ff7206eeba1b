import { useState } from 'react';
import { readAgain } from '../../client/queries.ts';
import { request } from '../../client/request.ts';
import { SelectField, TextArea, TextField } from '../../design/controls/fields.tsx';
import { Dialog } from '../../design/feedback/dialog.tsx';
import { Notice } from '../../design/feedback/failure.tsx';
import { Confirm } from '../../design/forms/confirm.tsx';
import { VersionedForm } from '../../design/forms/versioned-form.tsx';
import { Stack } from '../../design/layout/layout.tsx';
import { monthName } from '../invoices/invoice-state.ts';
import {
  draftOfPromise,
  figuresOf,
  monthsToCome,
  newPromiseOf,
  PROMISE_LABELS,
  type PromiseDraft,
  type PromiseList,
  promiseFaults,
} from './promise-draft.ts';
import { MEASURES, type Measure, promiseSentences } from './promise-words.ts';
import { Promised } from './promised.tsx';

interface PromiseDialogProps {
  model: string;
  /** The promises of the model when the dialog opened. */
  list: PromiseList;
  onClose: () => void;
}

const changed = () => readAgain('/v1/service-promises', '/v1/models', '/v1/service-levels');

const MonthField = ({ month, onChange }: { month: string; onChange: (month: string) => void }) => (
  <SelectField
    label="From (UTC)"
    hint="You can only state a promise before its month begins."
    value={month}
    onChange={onChange}
    choices={monthsToCome(Date.now()).map((each) => [each, monthName(each)] as const)}
  />
);

const EXAMPLES: Readonly<Record<Measure, string>> = {
  availability: '99.9: 10',
  first_token_p95_ms: '2000: 5',
  wake_p95_seconds: '120: 5',
};

const hasNoFault = (draft: PromiseDraft): boolean => Object.keys(promiseFaults(draft)).length === 0;

/** States what a model promises from a month on, in place of what was stated for that month. */
export const StatePromise = ({ model, list, onClose }: PromiseDialogProps) => {
  const [month, setMonth] = useState(() => monthsToCome(Date.now())[0] ?? '');
  return (
    <Dialog title={`State promise for ${model}`} onClose={onClose}>
      <p>
        If a month misses the promise, each organization gets a part of its charges for the model back. The first line of a measure is the
        promise. Each further line is a worse miss with a larger credit. Leave a measure empty to promise nothing for it.
      </p>
      <MonthField month={month} onChange={setMonth} />
      <VersionedForm
        key={month}
        thing={list}
        draftOf={(stored) => draftOfPromise(stored, month)}
        labels={PROMISE_LABELS}
        read={() => request('GET /v1/service-promises', { query: { model } })}
        save={async (draft, { version }) => {
          await request('POST /v1/service-promises', { body: newPromiseOf(model, month, draft), version });
          await changed();
          onClose();
        }}
        submitLabel="State promise"
        canSubmit={(draft) => hasNoFault(draft) && promiseSentences(figuresOf(draft)).length > 0}
        onCancel={onClose}
      >
        {(draft, change) => {
          const faults = promiseFaults(draft);
          return (
            <>
              {MEASURES.map((measure) => (
                <Stack key={measure}>
                  <TextArea
                    label={PROMISE_LABELS[measure]}
                    hint={`One tier per line, such as ${EXAMPLES[measure]}.`}
                    rows={2}
                    value={draft[measure]}
                    onChange={(text) => change({ [measure]: text })}
                    fault={faults[measure]}
                  />
                  {draft[measure].trim() !== '' && (
                    <TextField
                      label={PROMISE_LABELS[`${measure}_least`]}
                      hint="With fewer in a month, the measure isn't evaluated."
                      value={draft[`${measure}_least`]}
                      onChange={(text) => change({ [`${measure}_least`]: text })}
                      fault={faults[`${measure}_least`]}
                      inputMode="numeric"
                    />
                  )}
                </Stack>
              ))}
              <TextField
                label={PROMISE_LABELS.most}
                value={draft.most}
                onChange={(text) => change({ most: text })}
                fault={faults.most}
                inputMode="numeric"
              />
              {hasNoFault(draft) && (
                <Notice>
                  <Promised figures={figuresOf(draft)} otherwise="Nothing is promised yet. Fill in at least one measure." />
                </Notice>
              )}
            </>
          );
        }}
      </VersionedForm>
    </Dialog>
  );
};

/** Ends a promise: from a month on, the model promises nothing. */
export const EndPromise = ({ model, list: { version }, onClose }: PromiseDialogProps) => {
  const [month, setMonth] = useState(() => monthsToCome(Date.now())[0] ?? '');
  return (
    <Confirm
      title={`End promise of ${model}`}
      action="End promise"
      onClose={onClose}
      onConfirm={async () => {
        await request('POST /v1/service-promises', { body: { model, from_month: month }, version });
        await changed();
      }}
    >
      <MonthField month={month} onChange={setMonth} />
      <p>
        From {monthName(month)}, {model} promises nothing until the next promise stated for a later month. Earlier months keep their promise
        and are credited if they miss it.
      </p>
    </Confirm>
  );
};
