import { useState } from 'react';
import { can, useSignedIn } from '../../client/me.ts';
import { readAgain } from '../../client/queries.ts';
import { request } from '../../client/request.ts';
import { Button } from '../../design/controls/button.tsx';
import { TextField } from '../../design/controls/fields.tsx';
import { Confirm } from '../../design/forms/confirm.tsx';
import { Items, Row, Stack } from '../../design/layout/layout.tsx';
import { CreditDialog } from './credit-dialog.tsx';
import { EditOrganization } from './edit-organization.tsx';
import { LimitsDialog } from './limits-dialog.tsx';
import type { Organization } from './limits-draft.ts';

interface OrganizationDialogProps {
  organization: Organization;
  onClose: () => void;
}

const SuspendDialog = ({ organization: { id, name, version }, onClose }: OrganizationDialogProps) => {
  const [reason, setReason] = useState('');
  return (
    <Confirm
      title={`Suspend ${name}`}
      action="Suspend organization"
      typed={name}
      onClose={onClose}
      onConfirm={async () => {
        await request('POST /v1/organizations/{id}/suspend', {
          parameters: { id },
          body: { reason: reason.trim() || 'Suspended in the console.' },
          version,
        });
        await readAgain('/v1/organizations', '/v1/summary');
      }}
    >
      <Stack>
        <Items>
          <li>Its API keys stop working from their next request. Requests in progress are completed.</li>
          <li>Its users can still sign in and read, but can't change anything. New users can't be invited.</li>
          <li>Its deployments keep running and are charged. They can be stopped and deleted, but not started.</li>
          <li>Its webhooks receive no events.</li>
        </Items>
        <TextField label="Reason" hint="Recorded in the audit log." value={reason} onChange={setReason} maxLength={500} />
      </Stack>
    </Confirm>
  );
};

const ResumeDialog = ({ organization: { id, name, version }, onClose }: OrganizationDialogProps) => (
  <Confirm
    title={`Resume ${name}`}
    action="Resume organization"
    onClose={onClose}
    onConfirm={async () => {
      await request('POST /v1/organizations/{id}/resume', { parameters: { id }, body: { reason: 'Resumed in the console.' }, version });
      await readAgain('/v1/organizations', '/v1/summary');
    }}
  >
    <p>Within five seconds, its API keys work again, and its users can make changes.</p>
  </Confirm>
);

const DIALOGS = {
  edit: EditOrganization,
  limits: LimitsDialog,
  credit: CreditDialog,
  suspend: SuspendDialog,
  resume: ResumeDialog,
} as const;

/** The actions on an organization. */
export const OrganizationActions = ({ organization }: { organization: Organization }) => {
  const me = useSignedIn();
  // A change by others must reach an open form as a conflict, so the form keeps what it was opened with.
  const [opened, setOpened] = useState<{ name: keyof typeof DIALOGS; of: Organization }>();
  const open = (name: keyof typeof DIALOGS) => () => setOpened({ name, of: organization });
  const mayManage = can(me, 'organizations:manage');
  const OpenDialog = opened && DIALOGS[opened.name];
  return (
    <Row>
      {can(me, 'credit:grant') && organization.limits?.prepaid && <Button onClick={open('credit')}>Grant credit</Button>}
      {mayManage && <Button onClick={open('limits')}>Set limits</Button>}
      {can(me, 'organization:write') && <Button onClick={open('edit')}>Edit</Button>}
      {mayManage && organization.status === 'active' && <Button onClick={open('suspend')}>Suspend</Button>}
      {mayManage && organization.status !== 'active' && (
        <Button look="primary" onClick={open('resume')}>
          Resume
        </Button>
      )}
      {OpenDialog && <OpenDialog organization={opened.of} onClose={() => setOpened(undefined)} />}
    </Row>
  );
};
