import { useState } from 'react';
import { readAgain } from '../../client/queries.ts';
import { request } from '../../client/request.ts';
import type { Choice } from '../../design/controls/choice.ts';
import { SelectField, TextField } from '../../design/controls/fields.tsx';
import { Dialog } from '../../design/feedback/dialog.tsx';
import { formatDay } from '../../design/format/times.ts';
import { DAY_S } from '../../design/format/units.ts';
import { Form } from '../../design/forms/form.tsx';
import { ShortFields } from '../../design/layout/layout.tsx';
import { type ExportDraft, type ExportFormat, MAX_EXPORT_DAYS, newExportOf } from './export-draft.ts';
import type { ExportValues } from './records-query.ts';

const FORMATS: readonly Choice<ExportFormat>[] = [
  ['csv', 'CSV: one row per record'],
  ['jsonl', 'JSON Lines: one line per record'],
  ['focus', 'FOCUS 1.4: daily costs with invoice lines'],
];

const yesterday = (): string => formatDay(Date.now() / 1_000 - DAY_S);
const firstOfMonth = (day: string): string => `${day.slice(0, -2)}01`;

interface CreateExportProps {
  /** For users of the platform. */
  organization: string | undefined;
  /** The records that the user sees: their days if they chose some, API key and model. Others are empty. */
  seen: Pick<ExportValues, 'from' | 'to' | 'api_key' | 'model'>;
  onClose: () => void;
}

/** Begins to write usage records to a file. */
export const CreateExport = ({ organization, seen, onClose }: CreateExportProps) => {
  const [draft, setDraft] = useState<ExportDraft>(() => {
    const lastDay = yesterday();
    return {
      format: 'csv',
      firstDay: seen.from || firstOfMonth(lastDay),
      lastDay: seen.to || lastDay,
      keys: seen.api_key,
      models: seen.model,
    };
  });
  const change = (changes: Partial<ExportDraft>) => setDraft((was) => ({ ...was, ...changes }));
  const body = newExportOf(draft, organization);
  return (
    <Dialog title="Create export" onClose={onClose}>
      <Form
        submitLabel="Create export"
        canSubmit={body !== undefined}
        onCancel={onClose}
        onSubmit={async ({ idempotencyKey }) => {
          if (!body) return;
          await request('POST /v1/billing/exports', { body, idempotencyKey });
          await readAgain('/v1/billing/exports');
          onClose();
        }}
      >
        <SelectField label="Format" value={draft.format} choices={FORMATS} onChange={(format) => change({ format })} />
        <ShortFields>
          <TextField label="First day (UTC)" type="date" value={draft.firstDay} onChange={(firstDay) => change({ firstDay })} />
          <TextField
            label="Last day (UTC)"
            type="date"
            value={draft.lastDay}
            onChange={(lastDay) => change({ lastDay })}
            fault={body ? undefined : `Choose a day on or after the first day, for at most ${MAX_EXPORT_DAYS} days in total.`}
          />
        </ShortFields>
        <TextField
          label="API keys"
          hint="Ids separated by commas. Leave empty for all API keys."
          value={draft.keys}
          onChange={(keys) => change({ keys })}
          isCode
        />
        <TextField
          label="Models"
          hint="Names separated by commas. Leave empty for all models."
          value={draft.models}
          onChange={(models) => change({ models })}
        />
      </Form>
    </Dialog>
  );
};
