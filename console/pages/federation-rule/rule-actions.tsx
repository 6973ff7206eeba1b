import { useState } from 'react';
import { useLocation } from 'wouter';
import { can, useSignedIn } from '../../client/me.ts';
import { readAgain } from '../../client/queries.ts';
import { request } from '../../client/request.ts';
import { Button } from '../../design/controls/button.tsx';
import { Dialog } from '../../design/feedback/dialog.tsx';
import { Confirm } from '../../design/forms/confirm.tsx';
import { VersionedForm } from '../../design/forms/versioned-form.tsx';
import { Stack } from '../../design/layout/layout.tsx';
import { changesOfRule, draftOfRule, type FederationRule, faultsOfRule, RULE_LABELS } from '../federation-rules/rule-draft.ts';
import { ConditionFields, FurtherFields, KeySettingFields } from '../federation-rules/rule-fields.tsx';

interface ActionProps {
  rule: FederationRule;
  onClose: () => void;
}

const placeOf = ({ id, service_account }: FederationRule) => ({ id: service_account, rule: id });

const EditRule = ({ rule, onClose }: ActionProps) => {
  const me = useSignedIn();
  return (
    <Dialog title="Edit federation rule" onClose={onClose}>
      <VersionedForm
        thing={rule}
        draftOf={draftOfRule}
        labels={RULE_LABELS}
        read={() => request('GET /v1/service-accounts/{id}/federation-rules/{rule}', { parameters: placeOf(rule) })}
        submitLabel="Save federation rule"
        onCancel={onClose}
        canSubmit={(draft, base) => Object.keys(faultsOfRule(draft)).length === 0 && Object.keys(changesOfRule(draft, base)).length > 0}
        save={async (draft, base) => {
          await request('PATCH /v1/service-accounts/{id}/federation-rules/{rule}', {
            parameters: placeOf(rule),
            body: changesOfRule(draft, base),
            version: base.version,
          });
          await readAgain('/v1/service-accounts');
          onClose();
        }}
      >
        {(draft, change) => (
          <Stack>
            <ConditionFields draft={draft} onChange={change} />
            {can(me, 'keys:limit') && <KeySettingFields draft={draft} onChange={change} />}
            <FurtherFields draft={draft} onChange={change} />
          </Stack>
        )}
      </VersionedForm>
    </Dialog>
  );
};

const SwitchRule = ({ rule, onClose }: ActionProps) => {
  const isActive = rule.status === 'active';
  const action = isActive ? 'Disable federation rule' : 'Enable federation rule';
  return (
    <Confirm
      title={action}
      action={action}
      onClose={onClose}
      onConfirm={async () => {
        await request('PATCH /v1/service-accounts/{id}/federation-rules/{rule}', {
          parameters: placeOf(rule),
          body: { status: isActive ? 'disabled' : 'active' },
          version: rule.version,
        });
        await readAgain('/v1/service-accounts');
      }}
    >
      <p>
        {isActive
          ? 'The rule accepts no tokens until you enable it again, and its active API keys are revoked. Access tokens that it has issued work for up to 15 minutes.'
          : `Jobs from ${rule.issuer} that meet the rule's conditions get access tokens again.`}
      </p>
    </Confirm>
  );
};

const DeleteRule = ({ rule, onClose }: ActionProps) => {
  const [, navigate] = useLocation();
  return (
    <Confirm
      title="Delete federation rule"
      action="Delete federation rule"
      onClose={onClose}
      onConfirm={async () => {
        await request('DELETE /v1/service-accounts/{id}/federation-rules/{rule}', { parameters: placeOf(rule), version: rule.version });
        navigate(`/federation-rules?service_account=${rule.service_account}`);
        void readAgain('/v1/service-accounts');
      }}
    >
      <p>
        Jobs from {rule.issuer} can no longer use the rule, and its active API keys are revoked. Access tokens that it has issued work for
        up to 15 minutes.
      </p>
    </Confirm>
  );
};

const DIALOGS = { edit: EditRule, switch: SwitchRule, delete: DeleteRule } as const;

/** The actions on a rule. */
export const RuleActions = ({ rule }: Pick<ActionProps, 'rule'>) => {
  const me = useSignedIn();
  // A dialog acts on the version that it was opened with.
  const [opened, setOpened] = useState<{ action: keyof typeof DIALOGS; rule: FederationRule }>();
  const open = (action: keyof typeof DIALOGS) => () => setOpened({ action, rule });
  if (!can(me, 'service_accounts:write')) return null;
  const Opened = opened && DIALOGS[opened.action];
  return (
    <>
      <Button onClick={open('edit')}>Edit federation rule</Button>
      <Button onClick={open('switch')}>{rule.status === 'active' ? 'Disable federation rule' : 'Enable federation rule'}</Button>
      <Button look="danger" onClick={open('delete')}>
        Delete federation rule
      </Button>
      {opened && Opened && <Opened rule={opened.rule} onClose={() => setOpened(undefined)} />}
    </>
  );
};
