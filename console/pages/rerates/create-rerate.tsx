import { useState } from 'react';
import { useLocation } from 'wouter';
import { can, useSignedIn } from '../../client/me.ts';
import { readAgain, useRead } from '../../client/queries.ts';
import { request } from '../../client/request.ts';
import { Segments, SelectField, TextField } from '../../design/controls/fields.tsx';
import { FilterField } from '../../design/controls/filter-field.tsx';
import { Dialog } from '../../design/feedback/dialog.tsx';
import { Form } from '../../design/forms/form.tsx';
import { ShortFields } from '../../design/layout/layout.tsx';
import { choiceOfInstancePrice, choiceOfPrice, EMPTY_RERATE, isCompleteRerate, previewOf, type RerateDraft } from './rerate-draft.ts';

type Change = (changes: Partial<RerateDraft>) => void;

// A deleted model has versions that are not listed, so then ids can be typed.
const useVersions = ({ kind, subject, organization }: RerateDraft): readonly (readonly [string, string])[] => {
  const isModel = kind === 'model' && subject !== '';
  const shared = useRead('GET /v1/prices', { query: { model: subject } }, { enabled: isModel });
  const own = useRead('GET /v1/prices', { query: { model: subject, organization } }, { enabled: isModel && organization !== '' });
  const type = useRead(
    'GET /v1/instance-types/{id}',
    { parameters: { id: subject } },
    { enabled: kind === 'instance_type' && subject !== '' },
  );
  if (kind === 'instance_type') return type.data?.prices?.map(choiceOfInstancePrice) ?? [];
  return [...(own.data?.data ?? []), ...(shared.data?.data ?? [])].map(choiceOfPrice);
};

interface VersionFieldProps {
  label: string;
  value: string;
  onChange: (value: string) => void;
  choices: readonly (readonly [string, string])[];
}

const VersionField = ({ choices, ...rest }: VersionFieldProps) =>
  choices.length > 0 ? (
    <SelectField {...rest} choices={[['', 'Choose a price version'], ...choices]} />
  ) : (
    <TextField {...rest} placeholder="price_…" isCode autoComplete="off" />
  );

const SubjectFields = ({ draft, onChange }: { draft: RerateDraft; onChange: Change }) => {
  const me = useSignedIn();
  return (
    <>
      {can(me, 'deployments:read') && (
        <Segments
          label="Usage to rerate"
          value={draft.kind}
          onChange={(kind) => onChange({ kind, subject: '', fromVersion: '', toVersion: '' })}
          choices={[
            ['model', 'Requests of a model'],
            ['instance_type', 'GPU time of an instance type'],
          ]}
        />
      )}
      <ShortFields>
        <FilterField
          label={draft.kind === 'model' ? 'Model' : 'Instance type'}
          value={draft.subject}
          onChange={(subject) => onChange({ subject, fromVersion: '', toVersion: '' })}
        />
        <FilterField
          label="Organization"
          placeholder="org_…, empty for all"
          value={draft.organization}
          onChange={(organization) => onChange({ organization, fromVersion: '', toVersion: '' })}
          isCode
        />
      </ShortFields>
    </>
  );
};

interface CreateRerateProps {
  model: string;
  organization: string;
  onClose: () => void;
}

/** Computes what usage would cost by another price version. Nothing changes until the result is executed. */
export const CreateRerate = ({ model, organization, onClose }: CreateRerateProps) => {
  const [draft, setDraft] = useState<RerateDraft>({ ...EMPTY_RERATE, subject: model, organization });
  const [, navigate] = useLocation();
  const versions = useVersions(draft);
  const change: Change = (changes) => setDraft((was) => ({ ...was, ...changes }));
  return (
    <Dialog title="Create rerate" onClose={onClose}>
      <p>Sluice first computes the difference for each organization. Nothing is billed or credited until you execute the rerate.</p>
      <Form
        submitLabel="Preview rerate"
        canSubmit={isCompleteRerate(draft)}
        onCancel={onClose}
        onSubmit={async ({ idempotencyKey }) => {
          const { id } = await request('POST /v1/billing/rerates', { body: previewOf(draft), idempotencyKey });
          void readAgain('/v1/billing/rerates');
          navigate(`/rerates/${id}`);
        }}
      >
        <SubjectFields draft={draft} onChange={change} />
        <VersionField
          label="From price version"
          value={draft.fromVersion}
          onChange={(fromVersion) => change({ fromVersion })}
          choices={versions}
        />
        <VersionField label="To price version" value={draft.toVersion} onChange={(toVersion) => change({ toVersion })} choices={versions} />
        <ShortFields>
          <TextField
            label="From (UTC)"
            hint="The time when requests arrived."
            type="datetime-local"
            value={draft.start}
            onChange={(start) => change({ start })}
          />
          <TextField
            label="Until (UTC)"
            hint="Must be at least an hour ago."
            type="datetime-local"
            value={draft.end}
            onChange={(end) => change({ end })}
          />
        </ShortFields>
        <TextField
          label="Reason"
          hint="Recorded in the audit logs."
          value={draft.reason}
          onChange={(reason) => change({ reason })}
          maxLength={500}
        />
      </Form>
    </Dialog>
  );
};
