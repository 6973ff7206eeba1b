import { useState } from 'react';
import { can, useSignedIn } from '../../client/me.ts';
import { useRead } from '../../client/queries.ts';
import { request } from '../../client/request.ts';
import { Button } from '../../design/controls/button.tsx';
import { SelectField } from '../../design/controls/fields.tsx';
import { IdLink } from '../../design/controls/id-link.tsx';
import { Dialog } from '../../design/feedback/dialog.tsx';
import { Notice } from '../../design/feedback/failure.tsx';
import { Loaded } from '../../design/feedback/loaded.tsx';
import { Confirm } from '../../design/forms/confirm.tsx';
import { Form } from '../../design/forms/form.tsx';
import { Items, Section } from '../../design/layout/layout.tsx';
import { lockedOut } from './locked-out.ts';
import { type PartProps, placeOf, readProviders } from './place.ts';

const MAX_USERS = 100;
const MAX_NAMED = 5;

type DialogProps = PartProps & { onClose: () => void };

const LockedOut = ({ emails, isCut }: { emails: readonly string[]; isCut: boolean }) =>
  emails.length === 0 ? (
    <p>
      Everyone else can sign in with the provider: their email addresses are in verified domains
      {isCut && ` (only the first ${MAX_USERS} users were checked)`}.
    </p>
  ) : (
    <Notice tone="warn">
      <p>
        {isCut && 'At least '}
        {emails.length} {emails.length === 1 ? 'user' : 'users'} will not be able to sign in, because their email addresses are not in a
        verified domain:
      </p>
      <Items>
        {emails.slice(0, MAX_NAMED).map((email) => (
          <li key={email}>{email}</li>
        ))}
        {emails.length > MAX_NAMED && <li>and {emails.length - MAX_NAMED} more</li>}
      </Items>
    </Notice>
  );

const RefusePasswords = ({ provider, organization, onClose }: DialogProps) => {
  const me = useSignedIn();
  const query = { ...(organization && { organization }) };
  const users = useRead('GET /v1/users', { query: { ...query, limit: MAX_USERS } });
  const providers = useRead('GET /v1/identity-providers', { query });
  const [chosen, setChosen] = useState(provider.break_glass ?? me.id);
  const refuse = async () => {
    const body = { enforced: true, break_glass: chosen };
    await request('PATCH /v1/identity-providers/{id}', { ...placeOf({ provider, organization }), body, version: provider.version });
    await readProviders();
    onClose();
  };
  return (
    <Dialog title="Refuse passwords" onClose={onClose}>
      <Loaded query={users}>
        {({ data, has_more }) => {
          const owners = data.filter(({ role, status }) => role === 'owner' && status === 'active');
          const breakGlass = owners.find(({ id }) => id === chosen);
          const emails = lockedOut(data, providers.data?.data ?? [provider], chosen).map(({ email }) => email);
          return (
            <Form submitLabel="Refuse passwords" look="danger" canSubmit={breakGlass !== undefined} onCancel={onClose} onSubmit={refuse}>
              <p>
                Users of the organization will be able to sign in only with {provider.name}. Passwords are refused, and no reset codes are
                emailed. Current sessions stay valid until they expire.
              </p>
              <SelectField
                label="Break-glass owner"
                value={chosen}
                onChange={setChosen}
                choices={[
                  ...(breakGlass ? [] : [[chosen, 'Choose an owner'] as const]),
                  ...owners.map(({ id, email }) => [id, email] as const),
                ]}
                hint="If the provider is down, this owner can still sign in with a password and their second factor. They can't be disabled, deleted or given another role until you choose another break-glass owner."
              />
              <LockedOut emails={emails} isCut={has_more} />
            </Form>
          );
        }}
      </Loaded>
    </Dialog>
  );
};

const AllowPasswords = ({ provider, organization, onClose }: DialogProps) => (
  <Confirm
    title="Allow passwords"
    action="Allow passwords"
    onClose={onClose}
    onConfirm={async () => {
      const body = { enforced: false };
      await request('PATCH /v1/identity-providers/{id}', { ...placeOf({ provider, organization }), body, version: provider.version });
      await readProviders();
    }}
  >
    <p>Users can also sign in with a password again. Users who never had one can set it with “Forgot your password?”.</p>
  </Confirm>
);

/** Says if users can still sign in with a password, and who always can. */
export const Passwords = (part: PartProps) => {
  const me = useSignedIn();
  // A dialog acts on the version that it was opened with.
  const [opened, setOpened] = useState<PartProps>();
  const { enforced, break_glass, status } = part.provider;
  const close = () => setOpened(undefined);
  return (
    <Section
      title="Passwords"
      actions={
        can(me, 'identity_providers:write') && (
          <Button onClick={() => setOpened(part)}>{enforced ? 'Allow passwords' : 'Refuse passwords'}</Button>
        )
      }
    >
      {enforced ? (
        <p>
          {status === 'active' ? 'Passwords are refused.' : 'Passwords will be refused once the identity provider is enabled.'}{' '}
          {break_glass !== null && (
            <>Only {break_glass === me.id ? 'you' : <IdLink id={break_glass} />} can use one, with a second factor.</>
          )}
        </p>
      ) : (
        <p>Users can sign in with the provider or with a password. Test the login before you refuse passwords.</p>
      )}
      {opened &&
        (opened.provider.enforced ? <AllowPasswords {...opened} onClose={close} /> : <RefusePasswords {...opened} onClose={close} />)}
    </Section>
  );
};
