import { useState } from 'react';
import { useLocation } from 'wouter';
import { readAgain } from '../../client/queries.ts';
import { request } from '../../client/request.ts';
import { Dialog } from '../../design/feedback/dialog.tsx';
import { Form } from '../../design/forms/form.tsx';
import { PLATFORM, rolesIn } from '../users/roles.ts';
import { EMPTY_ACCOUNT, newAccountOf } from './account-draft.ts';
import { AccountFields } from './account-fields.tsx';

interface CreateAccountProps {
  /** Undefined: the caller's own. */
  organization: string | undefined;
  onClose: () => void;
}

/** Creates a service account, then opens its page, on which it gets a secret or a federation rule. */
export const CreateAccount = ({ organization, onClose }: CreateAccountProps) => {
  const [, navigate] = useLocation();
  const [draft, setDraft] = useState(() =>
    organization === PLATFORM ? { ...EMPTY_ACCOUNT, role: rolesIn(PLATFORM)[0]?.[0] ?? EMPTY_ACCOUNT.role } : EMPTY_ACCOUNT,
  );
  return (
    <Dialog title="Create service account" onClose={onClose}>
      <Form
        submitLabel="Create service account"
        canSubmit={draft.name.trim() !== '' && draft.permissions !== ''}
        onCancel={onClose}
        onSubmit={async () => {
          const named = organization === PLATFORM ? undefined : organization;
          const { id } = await request('POST /v1/service-accounts', { body: newAccountOf(draft, named) });
          void readAgain('/v1/service-accounts');
          navigate(`/service-accounts/${id}`);
        }}
      >
        <AccountFields
          draft={draft}
          onChange={(changes) => setDraft((was) => ({ ...was, ...changes }))}
          organization={organization ?? ''}
        />
      </Form>
    </Dialog>
  );
};
