import { useReducer, useState } from 'react';
import { readAgain } from '../../client/queries.ts';
import { request } from '../../client/request.ts';
import { Chip } from '../../design/data/values.tsx';
import { Dialog } from '../../design/feedback/dialog.tsx';
import { Form } from '../../design/forms/form.tsx';
import { Items, Row } from '../../design/layout/layout.tsx';
import { OnboardFields } from './onboard-fields.tsx';
import { createOnboarding, EMPTY_ONBOARDING, isReady, type OnboardingDraft, type StepName, stepsOf } from './onboarding.ts';
import { SendToOwner } from './send-to-owner.tsx';

const TITLES: Readonly<Record<StepName, string>> = {
  organization: 'Create the organization',
  limits: 'Set its limits',
  credit: 'Grant the credit',
  owner: 'Invite the owner',
  api_key: 'Create the API key',
};

type Onboarding = ReturnType<typeof createOnboarding>;

const Steps = ({ onboarding, draft }: { onboarding: Onboarding; draft: OnboardingDraft }) => {
  const [made, fixed] = [onboarding.made(), onboarding.fixed()];
  return (
    <Items isOrdered>
      {stepsOf(draft).map((step) => (
        <li key={step}>
          <Row>
            <Chip
              state={made[step] ? 'done' : fixed.has(step) ? 'unknown' : 'to do'}
              tone={made[step] ? 'good' : fixed.has(step) ? 'warn' : undefined}
            />
            {TITLES[step]}
          </Row>
        </li>
      ))}
    </Items>
  );
};

/** Creates an organization with its limits, owner and first API key. If a step fails, the others are not repeated. */
export const Onboard = ({ onClose }: { onClose: () => void }) => {
  const [onboarding] = useState(() => createOnboarding(request, crypto.randomUUID()));
  const [draft, setDraft] = useState(EMPTY_ONBOARDING);
  const [isDone, setDone] = useState(false);
  const [, show] = useReducer((count: number) => count + 1, 0);
  const isBegun = onboarding.fixed().size > 0;
  if (isDone) return <SendToOwner made={onboarding.made()} isPasswordMailed={draft.temporaryPassword === ''} onClose={onClose} />;
  return (
    <Dialog title="Onboard organization" onClose={onClose}>
      <Form
        submitLabel={isBegun ? 'Retry remaining steps' : 'Onboard organization'}
        canSubmit={isReady(draft)}
        onCancel={onClose}
        onSubmit={async () => {
          try {
            await onboarding.run(draft, show);
            setDone(true);
          } finally {
            show();
            await readAgain('/v1/organizations', '/v1/summary');
          }
        }}
      >
        <OnboardFields draft={draft} onChange={(changes) => setDraft((was) => ({ ...was, ...changes }))} fixed={onboarding.fixed()} />
        <Steps onboarding={onboarding} draft={draft} />
      </Form>
    </Dialog>
  );
};
