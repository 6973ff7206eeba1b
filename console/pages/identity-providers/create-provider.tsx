import { useState } from 'react';
import { useLocation } from 'wouter';
import { controlUrl } from '../../client/address.ts';
import { readAgain } from '../../client/queries.ts';
import { request } from '../../client/request.ts';
import { CopyText } from '../../design/controls/copy.tsx';
import { SelectField, TextField } from '../../design/controls/fields.tsx';
import { Dialog } from '../../design/feedback/dialog.tsx';
import { Form } from '../../design/forms/form.tsx';
import { CALLBACK_PATH, PRESETS, type PresetName } from './presets.ts';
import { EMPTY_PROVIDER, faultsOfProvider, newProviderOf, PROVIDER_LABELS } from './provider-draft.ts';
import { ClientFields, FurtherProviderFields, UserFields } from './provider-fields.tsx';
import { providerPath } from './provider-path.ts';

const CHOICES = (Object.keys(PRESETS) as PresetName[]).map((name) => [name, PRESETS[name].name] as const);

const draftFor = (preset: PresetName) => ({
  ...EMPTY_PROVIDER,
  ...PRESETS[preset].draft,
  name: preset === 'other' ? '' : PRESETS[preset].name,
});

const isWhole = (issuer: string): boolean => issuer.startsWith('http') && !/[<>]/.test(issuer);

interface CreateProviderProps {
  /** For users of the platform. */
  organization: string | undefined;
  onClose: () => void;
}

/** Connects an identity provider, then opens its page, on which its domains are proven. */
export const CreateProvider = ({ organization, onClose }: CreateProviderProps) => {
  const [, navigate] = useLocation();
  const [preset, setPreset] = useState<PresetName>('okta');
  const [issuer, setIssuer] = useState<string>(PRESETS.okta.issuer);
  const [draft, setDraft] = useState(() => draftFor('okta'));
  const change = (changes: Partial<typeof draft>) => setDraft((was) => ({ ...was, ...changes }));
  const isComplete = draft.name.trim() !== '' && isWhole(issuer) && draft.clientId.trim() !== '';
  return (
    <Dialog title="Connect an identity provider" onClose={onClose}>
      <Form
        submitLabel="Connect identity provider"
        canSubmit={isComplete && Object.keys(faultsOfProvider(draft)).length === 0}
        onCancel={onClose}
        onSubmit={async () => {
          const { id } = await request('POST /v1/identity-providers', { body: newProviderOf(draft, issuer, organization) });
          void readAgain('/v1/identity-providers');
          navigate(providerPath(id, organization));
        }}
      >
        <SelectField
          label="Provider"
          value={preset}
          choices={CHOICES}
          onChange={(name) => {
            setPreset(name);
            setIssuer(PRESETS[name].issuer);
            change({ ...draftFor(name), clientId: draft.clientId, clientSecret: draft.clientSecret, domains: draft.domains });
          }}
        />
        <p>
          First register Sluice there as a web application with the redirect URI <CopyText text={controlUrl + CALLBACK_PATH} />
        </p>
        <TextField
          label={PROVIDER_LABELS.name}
          value={draft.name}
          onChange={(name) => change({ name })}
          maxLength={100}
          autoComplete="off"
        />
        <TextField
          label="Issuer"
          value={issuer}
          onChange={setIssuer}
          hint="Exactly as in the provider's /.well-known/openid-configuration. It can't be changed later."
          fault={/[<>]/.test(issuer) && issuer !== PRESETS[preset].issuer ? 'Replace the parts in angle brackets.' : undefined}
          isCode
          autoComplete="off"
        />
        <ClientFields draft={draft} onChange={change} />
        <UserFields draft={draft} onChange={change} />
        <FurtherProviderFields draft={draft} onChange={change} />
      </Form>
    </Dialog>
  );
};
