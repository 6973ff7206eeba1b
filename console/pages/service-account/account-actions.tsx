import { useState } from 'react';
import { can, useSignedIn } from '../../client/me.ts';
import { readAgain } from '../../client/queries.ts';
import { request } from '../../client/request.ts';
import { Button } from '../../design/controls/button.tsx';
import { Dialog } from '../../design/feedback/dialog.tsx';
import { Confirm } from '../../design/forms/confirm.tsx';
import { VersionedForm } from '../../design/forms/versioned-form.tsx';
import { ACCOUNT_LABELS, changesOfAccount, draftOfAccount, type ServiceAccount } from '../service-accounts/account-draft.ts';
import { AccountFields } from '../service-accounts/account-fields.tsx';
import { EndAccount } from './end-account.tsx';

type Action = 'edit' | 'enable' | 'disable' | 'delete';

interface ActionProps {
  account: ServiceAccount;
  onClose: () => void;
}

const EditAccount = ({ account, onClose }: ActionProps) => {
  const { id, name, organization } = account;
  return (
    <Dialog title={`Edit ${name}`} onClose={onClose}>
      <VersionedForm
        thing={account}
        draftOf={draftOfAccount}
        labels={ACCOUNT_LABELS}
        read={() => request('GET /v1/service-accounts/{id}', { parameters: { id } })}
        submitLabel="Save service account"
        onCancel={onClose}
        canSubmit={(draft, base) =>
          draft.name.trim() !== '' && draft.permissions !== '' && Object.keys(changesOfAccount(draft, base)).length > 0
        }
        save={async (draft, base) => {
          const body = changesOfAccount(draft, base);
          await request('PATCH /v1/service-accounts/{id}', { parameters: { id }, body, version: base.version });
          await readAgain('/v1/service-accounts');
          onClose();
        }}
      >
        {(draft, change) => <AccountFields draft={draft} onChange={change} organization={organization} />}
      </VersionedForm>
    </Dialog>
  );
};

const EnableAccount = ({ account: { id, name, version }, onClose }: ActionProps) => (
  <Confirm
    title={`Enable ${name}`}
    action="Enable service account"
    onClose={onClose}
    onConfirm={async () => {
      await request('PATCH /v1/service-accounts/{id}', { parameters: { id }, body: { status: 'active' }, version });
      await readAgain('/v1/service-accounts');
    }}
  >
    <p>Its unexpired secrets and its federation rules work again.</p>
  </Confirm>
);

/** The actions on a service account. */
export const AccountActions = ({ account }: Pick<ActionProps, 'account'>) => {
  const me = useSignedIn();
  // A dialog acts on the version that it was opened with.
  const [opened, setOpened] = useState<{ action: Action; account: ServiceAccount }>();
  const close = () => setOpened(undefined);
  const open = (action: Action) => () => setOpened({ action, account });
  if (!can(me, 'service_accounts:write')) return null;
  return (
    <>
      <Button onClick={open('edit')}>Edit service account</Button>
      {account.status === 'active' ? (
        <Button onClick={open('disable')}>Disable service account</Button>
      ) : (
        <Button onClick={open('enable')}>Enable service account</Button>
      )}
      <Button look="danger" onClick={open('delete')}>
        Delete service account
      </Button>
      {opened?.action === 'edit' && <EditAccount account={opened.account} onClose={close} />}
      {opened?.action === 'enable' && <EnableAccount account={opened.account} onClose={close} />}
      {(opened?.action === 'disable' || opened?.action === 'delete') && (
        <EndAccount account={opened.account} isDeletion={opened.action === 'delete'} onClose={close} />
      )}
    </>
  );
};
