import { useState } from 'react';
import { controlUrl } from '../../client/address.ts';
import { can, useSignedIn } from '../../client/me.ts';
import { readAgain, useRead } from '../../client/queries.ts';
import { request } from '../../client/request.ts';
import type { ReplyBody } from '../../client/routes.ts';
import { Button } from '../../design/controls/button.tsx';
import { Code } from '../../design/controls/copy.tsx';
import { CheckField, SelectField } from '../../design/controls/fields.tsx';
import type { Column } from '../../design/data/table.tsx';
import { Table } from '../../design/data/table.tsx';
import { Chip, LastUsed, Time } from '../../design/data/values.tsx';
import { Dialog } from '../../design/feedback/dialog.tsx';
import { Loaded } from '../../design/feedback/loaded.tsx';
import { SecretDialog } from '../../design/feedback/secret-dialog.tsx';
import { DAY_S } from '../../design/format/units.ts';
import { Confirm } from '../../design/forms/confirm.tsx';
import { Form } from '../../design/forms/form.tsx';
import { Section } from '../../design/layout/layout.tsx';
import type { ServiceAccount } from '../service-accounts/account-draft.ts';
import { jobSnippets } from './job-snippet.ts';

type Secret = ReplyBody<'GET /v1/service-accounts/{id}/secrets'>['data'][number];

const MAX_LIVE = 2;
const DAYS = ['30', '90', '180', '365'] as const;

const hasExpired = ({ expires_at }: Secret): boolean => expires_at * 1_000 <= Date.now();

const CreateSecret = ({ account, onClose }: { account: ServiceAccount; onClose: () => void }) => {
  const { id, name } = account;
  const [days, setDays] = useState<(typeof DAYS)[number]>('90');
  const [created, setCreated] = useState<ReplyBody<'POST /v1/service-accounts/{id}/secrets'>>();
  if (created)
    return (
      <SecretDialog title={`Secret of ${name}`} secret={created.secret} onClose={onClose}>
        <p>
          Store it as <code>SERVICE_ACCOUNT_SECRET</code> in your job's secret store. The job exchanges it for an access token that works
          for 15 minutes:
        </p>
        <Code label="A job with this secret" variants={jobSnippets({ controlUrl, account })} />
      </SecretDialog>
    );
  return (
    <Dialog title={`Create secret for ${name}`} onClose={onClose}>
      <Form
        submitLabel="Create secret"
        onCancel={onClose}
        onSubmit={async () => {
          const body = { expires_in_seconds: Number(days) * DAY_S };
          setCreated(await request('POST /v1/service-accounts/{id}/secrets', { parameters: { id }, body }));
          void readAgain('/v1/service-accounts');
        }}
      >
        <SelectField
          label="Expires"
          value={days}
          onChange={setDays}
          choices={DAYS.map((count) => [count, `in ${count} days`] as const)}
          hint="Owners get an email 14 days before."
        />
      </Form>
    </Dialog>
  );
};

const DeleteSecret = ({ account, secret, onClose }: { account: ServiceAccount; secret: Secret; onClose: () => void }) => {
  const [endsSessions, setEnds] = useState(false);
  return (
    <Confirm
      title={`Delete secret ${secret.hint}`}
      action="Delete secret"
      onClose={onClose}
      onConfirm={async () => {
        await request('DELETE /v1/service-accounts/{id}/secrets/{secret}', {
          parameters: { id: account.id, secret: secret.id },
          query: { end_sessions: endsSessions ? 'true' : 'false' },
        });
        await readAgain('/v1/service-accounts');
      }}
    >
      <p>
        Jobs of {account.name} can no longer get access tokens with this secret. <LastUsed what="It" seconds={secret.last_used_at} />
      </p>
      <CheckField
        label="End all sessions of the service account now"
        hint="Do this if the secret has leaked. Otherwise, access tokens issued with it work for up to 15 minutes."
        checked={endsSessions}
        onChange={setEnds}
      />
    </Confirm>
  );
};

const columnsFor = (onDelete: ((secret: Secret) => void) | undefined): readonly Column<Secret>[] => [
  { title: 'Secret', isWhole: true, render: ({ hint }) => <code>{hint}</code> },
  { title: 'State', render: (secret) => <Chip state={hasExpired(secret) ? 'expired' : 'active'} /> },
  { title: 'Expires', isWhole: true, render: ({ expires_at }) => <Time seconds={expires_at} /> },
  { title: 'Last used', isWhole: true, render: ({ last_used_at }) => <Time seconds={last_used_at} /> },
  { title: 'Last used from', render: ({ last_ip_address }) => last_ip_address ?? '–' },
  { title: 'Created', isWhole: true, render: ({ created_at }) => <Time seconds={created_at} /> },
  ...(onDelete ? [{ title: 'Actions', render: (secret: Secret) => <Button onClick={() => onDelete(secret)}>Delete secret</Button> }] : []),
];

/** The secrets of a service account: a second one replaces the first without a gap. */
export const Secrets = ({ account }: { account: ServiceAccount }) => {
  const me = useSignedIn();
  const secrets = useRead('GET /v1/service-accounts/{id}/secrets', { parameters: { id: account.id } });
  const [isCreating, setCreating] = useState(false);
  const [deleted, setDeleted] = useState<Secret>();
  const mayWrite = can(me, 'service_accounts:write');
  const live = secrets.data?.data.filter((secret) => !hasExpired(secret)) ?? [];
  return (
    <Section
      title="Secrets"
      actions={
        mayWrite &&
        account.status === 'active' && (
          <Button disabled={live.length >= MAX_LIVE} onClick={() => setCreating(true)}>
            Create secret
          </Button>
        )
      }
    >
      <Loaded query={secrets}>
        {({ data }) =>
          data.length === 0 ? (
            <p>
              No secret yet. A program authenticates with a secret. Jobs on platforms that sign tokens for them don't need one: use a
              federation rule.
            </p>
          ) : (
            <Table
              label={`Secrets of ${account.name}`}
              rows={data}
              keyOf={({ id }) => id}
              columns={columnsFor(mayWrite ? setDeleted : undefined)}
            />
          )
        }
      </Loaded>
      {live.length >= MAX_LIVE && <p>At most two secrets can be active. To create another, delete one that you no longer use.</p>}
      {isCreating && <CreateSecret account={account} onClose={() => setCreating(false)} />}
      {deleted && <DeleteSecret account={account} secret={deleted} onClose={() => setDeleted(undefined)} />}
    </Section>
  );
};
