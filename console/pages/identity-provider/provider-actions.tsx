import { useState } from 'react';
import { useLocation } from 'wouter';
import { can, useSignedIn } from '../../client/me.ts';
import { request } from '../../client/request.ts';
import { Button } from '../../design/controls/button.tsx';
import { TextField } from '../../design/controls/fields.tsx';
import { Dialog } from '../../design/feedback/dialog.tsx';
import { Confirm } from '../../design/forms/confirm.tsx';
import { VersionedForm } from '../../design/forms/versioned-form.tsx';
import { Stack } from '../../design/layout/layout.tsx';
import { changesOfProvider, draftOfProvider, faultsOfProvider, PROVIDER_LABELS } from '../identity-providers/provider-draft.ts';
import { ClientFields, FurtherProviderFields, UserFields } from '../identity-providers/provider-fields.tsx';
import { type PartProps, placeOf, readProviders } from './place.ts';

type ActionProps = PartProps & { onClose: () => void };

const EditProvider = ({ onClose, ...part }: ActionProps) => (
  <Dialog title={`Edit ${part.provider.name}`} onClose={onClose}>
    <VersionedForm
      thing={part.provider}
      draftOf={draftOfProvider}
      labels={PROVIDER_LABELS}
      read={() => request('GET /v1/identity-providers/{id}', placeOf(part))}
      submitLabel="Save identity provider"
      onCancel={onClose}
      canSubmit={(draft, base) =>
        draft.name.trim() !== '' &&
        draft.clientId.trim() !== '' &&
        Object.keys(faultsOfProvider(draft)).length === 0 &&
        Object.keys(changesOfProvider(draft, base)).length > 0
      }
      save={async (draft, base) => {
        const body = changesOfProvider(draft, base);
        await request('PATCH /v1/identity-providers/{id}', { ...placeOf(part), body, version: base.version });
        await readProviders();
        onClose();
      }}
    >
      {(draft, change) => (
        <Stack>
          <TextField
            label={PROVIDER_LABELS.name}
            value={draft.name}
            onChange={(name) => change({ name })}
            maxLength={100}
            autoComplete="off"
          />
          <ClientFields draft={draft} onChange={change} hasSecret={part.provider.has_client_secret} />
          <UserFields draft={draft} onChange={change} />
          <FurtherProviderFields draft={draft} onChange={change} />
        </Stack>
      )}
    </VersionedForm>
  </Dialog>
);

const SwitchProvider = ({ onClose, ...part }: ActionProps) => {
  const { name, status, enforced, version } = part.provider;
  const isActive = status === 'active';
  const verb = isActive ? 'Disable' : 'Enable';
  return (
    <Confirm
      title={`${verb} ${name}`}
      action={`${verb} identity provider`}
      onClose={onClose}
      onConfirm={async () => {
        const body = { status: isActive ? 'disabled' : 'active' } as const;
        await request('PATCH /v1/identity-providers/{id}', { ...placeOf(part), body, version });
        await readProviders();
      }}
    >
      <p>
        {isActive
          ? 'Nobody can sign in with it, and its SCIM tokens stop working.'
          : 'Users of its verified domains can sign in with it again.'}{' '}
        {enforced && (isActive ? 'Passwords are allowed again immediately.' : 'Passwords are refused again immediately.')}
      </p>
    </Confirm>
  );
};

const DeleteProvider = ({ onClose, ...part }: ActionProps) => {
  const [, navigate] = useLocation();
  const { name, version } = part.provider;
  return (
    <Confirm
      title={`Delete ${name}`}
      action="Delete identity provider"
      typed={name}
      onClose={onClose}
      onConfirm={async () => {
        await request('DELETE /v1/identity-providers/{id}', { ...placeOf(part), version });
        navigate(`/identity-providers${part.organization ? `?organization=${part.organization}` : ''}`);
        void readProviders();
      }}
    >
      <p>
        Its users stay and sign in with passwords again. Users who never had one can set it with “Forgot your password?”. Its domains become
        available, and its SCIM tokens and list of logins are deleted. This can't be undone.
      </p>
    </Confirm>
  );
};

const DIALOGS = { edit: EditProvider, switch: SwitchProvider, delete: DeleteProvider } as const;

/** The actions on a connection. */
export const ProviderActions = (part: PartProps) => {
  const me = useSignedIn();
  // A dialog acts on the version that it was opened with.
  const [opened, setOpened] = useState<{ action: keyof typeof DIALOGS; part: PartProps }>();
  const open = (action: keyof typeof DIALOGS) => () => setOpened({ action, part });
  if (!can(me, 'identity_providers:write')) return null;
  const Opened = opened && DIALOGS[opened.action];
  return (
    <>
      <Button onClick={open('edit')}>Edit identity provider</Button>
      <Button onClick={open('switch')}>{part.provider.status === 'active' ? 'Disable' : 'Enable'} identity provider</Button>
      <Button look="danger" onClick={open('delete')}>
        Delete identity provider
      </Button>
      {opened && Opened && <Opened {...opened.part} onClose={() => setOpened(undefined)} />}
    </>
  );
};
