import { useState } from 'react';
import { can, useSignedIn } from '../../client/me.ts';
import { readAgain, useRead } from '../../client/queries.ts';
import { request } from '../../client/request.ts';
import { TextArea, TextField } from '../../design/controls/fields.tsx';
import { Notice } from '../../design/feedback/failure.tsx';
import { Loaded } from '../../design/feedback/loaded.tsx';
import { VersionedForm } from '../../design/forms/versioned-form.tsx';
import { Facts, Section } from '../../design/layout/layout.tsx';
import {
  AGREED_FIELDS,
  changesOfProfile,
  draftOfProfile,
  PROFILE_LABELS as LABELS,
  type Profile,
  type ProfileDraft,
  profileFaults,
} from './profile-draft.ts';

interface FieldsProps {
  draft: ProfileDraft;
  change: (changes: Partial<ProfileDraft>) => void;
}

const OwnFields = ({ draft, change }: FieldsProps) => {
  const faults = profileFaults(draft);
  return (
    <>
      <TextField
        label={LABELS.legalName}
        hint="Leave empty to use the organization's name."
        value={draft.legalName}
        onChange={(legalName) => change({ legalName })}
        maxLength={200}
      />
      <TextArea
        label={LABELS.addressLines}
        hint="Up to six lines, without the country."
        value={draft.addressLines}
        onChange={(addressLines) => change({ addressLines })}
        fault={faults.addressLines}
      />
      <TextField
        label={LABELS.country}
        placeholder="DE"
        value={draft.country}
        onChange={(country) => change({ country })}
        fault={faults.country}
        maxLength={2}
      />
      <TextField label={LABELS.taxId} value={draft.taxId} onChange={(taxId) => change({ taxId })} maxLength={50} />
      <TextField
        label={LABELS.purchaseOrder}
        hint="Printed on invoices."
        value={draft.purchaseOrder}
        onChange={(purchaseOrder) => change({ purchaseOrder })}
        maxLength={100}
      />
      <TextArea
        label={LABELS.emails}
        hint="One per line, up to ten."
        value={draft.emails}
        onChange={(emails) => change({ emails })}
        spellCheck={false}
      />
    </>
  );
};

const AgreedFields = ({ draft, change }: FieldsProps) => (
  <>
    <TextField
      label={LABELS.terms}
      hint="Leave empty to use the seller's terms."
      value={draft.terms}
      onChange={(terms) => change({ terms })}
      fault={profileFaults(draft).terms}
      inputMode="numeric"
    />
    <TextArea
      label={LABELS.note}
      hint="Printed instead of the seller's note, for example about reverse charge."
      value={draft.note}
      onChange={(note) => change({ note })}
      maxLength={1_000}
    />
    <TextField label={LABELS.stripe} placeholder="cus_…" value={draft.stripe} onChange={(stripe) => change({ stripe })} isCode />
  </>
);

const factsOf = (profile: Profile, names: readonly (keyof ProfileDraft)[]) => {
  const draft = draftOfProfile(profile);
  return names.map((name) => [LABELS[name], draft[name].split('\n').join(', ') || '–'] as const);
};

const ALL_FIELDS = Object.keys(LABELS) as (keyof ProfileDraft)[];

const ProfileForm = ({ profile, query, onSaved }: { profile: Profile; query: { organization?: string }; onSaved: () => void }) => {
  const agrees = can(useSignedIn(), 'billing:issue');
  return (
    <VersionedForm
      thing={profile}
      draftOf={draftOfProfile}
      labels={LABELS}
      read={() => request('GET /v1/billing/profile', { query })}
      canSubmit={(draft, base) => Object.keys(profileFaults(draft)).length === 0 && Object.keys(changesOfProfile(draft, base)).length > 0}
      save={async (draft, base) => {
        await request('PATCH /v1/billing/profile', { query, body: changesOfProfile(draft, base), version: base.version });
        await readAgain('/v1/billing/profile');
        onSaved();
      }}
      submitLabel="Save profile"
    >
      {(draft, change) => (
        <>
          <OwnFields draft={draft} change={change} />
          {agrees && <AgreedFields draft={draft} change={change} />}
        </>
      )}
    </VersionedForm>
  );
};

/** The customer on invoices, and the addresses to which invoices and alerts are sent. */
export const ProfileView = ({ organization }: { organization: string | undefined }) => {
  const me = useSignedIn();
  const [saves, setSaves] = useState(0);
  const query = organization === undefined ? {} : { organization };
  const profile = useRead('GET /v1/billing/profile', { query });
  return (
    <Loaded query={profile}>
      {(data) => (
        <Section title="Billing profile" isCard>
          <p>These details are copied to each invoice when it is issued. Issued invoices don't change.</p>
          <div role="status">{saves > 0 && <Notice tone="good">Profile saved. The next invoice uses it.</Notice>}</div>
          {can(me, 'billing:write') ? (
            <>
              <ProfileForm key={saves} profile={data} query={query} onSaved={() => setSaves(saves + 1)} />
              {!can(me, 'billing:issue') && <Facts facts={factsOf(data, AGREED_FIELDS).filter(([, value]) => value !== '–')} />}
            </>
          ) : (
            <Facts facts={factsOf(data, ALL_FIELDS)} />
          )}
        </Section>
      )}
    </Loaded>
  );
};
