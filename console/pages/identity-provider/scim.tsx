import { useState } from 'react';
import { controlUrl } from '../../client/address.ts';
import { can, useSignedIn } from '../../client/me.ts';
import { useRead } from '../../client/queries.ts';
import { request } from '../../client/request.ts';
import type { ReplyBody } from '../../client/routes.ts';
import { Button } from '../../design/controls/button.tsx';
import { Code } from '../../design/controls/copy.tsx';
import type { Column } from '../../design/data/table.tsx';
import { Table } from '../../design/data/table.tsx';
import { LastUsed, Time } from '../../design/data/values.tsx';
import { Failure } from '../../design/feedback/failure.tsx';
import { Loaded } from '../../design/feedback/loaded.tsx';
import { SecretDialog } from '../../design/feedback/secret-dialog.tsx';
import { Confirm } from '../../design/forms/confirm.tsx';
import { Section } from '../../design/layout/layout.tsx';
import { type PartProps, placeOf, readProviders } from './place.ts';

type ScimToken = ReplyBody<'GET /v1/identity-providers/{id}/scim-tokens'>['data'][number];

const MAX_TOKENS = 2;
const SCIM_URL = `${controlUrl}/scim/v2`;

const columnsFor = (onDelete: ((token: ScimToken) => void) | undefined): readonly Column<ScimToken>[] => [
  { title: 'Token', isWhole: true, render: ({ hint }) => <code>{hint}</code> },
  { title: 'Last used', isWhole: true, render: ({ last_used_at }) => <Time seconds={last_used_at} /> },
  { title: 'IP address', render: ({ last_ip_address }) => last_ip_address ?? '–' },
  { title: 'Created', isWhole: true, render: ({ created_at }) => <Time seconds={created_at} /> },
  ...(onDelete ? [{ title: 'Actions', render: (token: ScimToken) => <Button onClick={() => onDelete(token)}>Delete token</Button> }] : []),
];

const DeleteToken = ({ token: { id, last_used_at }, onClose, ...part }: PartProps & { token: ScimToken; onClose: () => void }) => (
  <Confirm
    title="Delete SCIM token"
    action="Delete SCIM token"
    onClose={onClose}
    onConfirm={async () => {
      const { parameters, query } = placeOf(part);
      await request('DELETE /v1/identity-providers/{id}/scim-tokens/{token}', { parameters: { ...parameters, token: id }, query });
      await readProviders();
    }}
  >
    <p>
      The provider can no longer change users with this token. Unless it has another token, people who leave your company keep their access.{' '}
      <LastUsed what="The token" seconds={last_used_at} />
    </p>
  </Confirm>
);

/** The tokens with which the provider creates, changes and deactivates users by itself. */
export const Scim = (part: PartProps) => {
  const me = useSignedIn();
  const tokens = useRead('GET /v1/identity-providers/{id}/scim-tokens', placeOf(part));
  const [created, setCreated] = useState<ReplyBody<'POST /v1/identity-providers/{id}/scim-tokens'>>();
  const [deleted, setDeleted] = useState<ScimToken>();
  const [failure, setFailure] = useState<Error>();
  const [isPending, setPending] = useState(false);
  const mayWrite = can(me, 'identity_providers:write');
  const create = async () => {
    setPending(true);
    setFailure(undefined);
    try {
      setCreated(await request('POST /v1/identity-providers/{id}/scim-tokens', placeOf(part)));
      void readProviders();
    } catch (error) {
      setFailure(error as Error);
    } finally {
      setPending(false);
    }
  };
  return (
    <Section
      title="Provisioning with SCIM"
      actions={
        mayWrite && (
          <Button
            isBusy={isPending}
            disabled={!isPending && (tokens.data?.data.length ?? MAX_TOKENS) >= MAX_TOKENS}
            onClick={() => void create()}
          >
            Create SCIM token
          </Button>
        )
      }
    >
      {failure && <Failure failure={failure} />}
      <Loaded query={tokens}>
        {({ data }) =>
          data.length === 0 ? (
            <p>SCIM is off. With a token, the provider creates users, and deactivates people who leave within a minute.</p>
          ) : (
            <Table label="SCIM tokens" rows={data} keyOf={({ id }) => id} columns={columnsFor(mayWrite ? setDeleted : undefined)} />
          )
        }
      </Loaded>
      {created && (
        <SecretDialog title="SCIM token" secret={created.token} onClose={() => setCreated(undefined)}>
          <p>Enter it at your provider, with this address. The token doesn't expire. To replace it, create a second one first.</p>
          <Code label="SCIM address" variants={[['Address', SCIM_URL]]} />
        </SecretDialog>
      )}
      {deleted && <DeleteToken {...part} token={deleted} onClose={() => setDeleted(undefined)} />}
    </Section>
  );
};
