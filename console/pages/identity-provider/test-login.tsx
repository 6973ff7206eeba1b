import { useState } from 'react';
import { openTab } from '../../client/new-tab.ts';
import { useRead } from '../../client/queries.ts';
import { request } from '../../client/request.ts';
import type { ReplyBody } from '../../client/routes.ts';
import { Button } from '../../design/controls/button.tsx';
import { Code } from '../../design/controls/copy.tsx';
import { Failure, Notice } from '../../design/feedback/failure.tsx';
import { Facts, Section, Stack } from '../../design/layout/layout.tsx';
import { type PartProps, placeOf } from './place.ts';
import { adviceFor } from './refusals.ts';

const POLL_MS = 5_000;

const OUTCOMES = {
  signs_in: 'This user would sign in.',
  links: 'This user would sign in and be linked to the identity provider.',
  provisions: 'A new user would be created and signed in.',
  refused: 'This login would be refused.',
} as const;

const Result = ({ result }: { result: ReplyBody<'GET /v1/identity-providers/{id}/test/{test}'> }) => {
  const { outcome, reason, email, role, subject, claims } = result;
  return (
    <Stack>
      <Notice tone={outcome === 'refused' ? 'warn' : 'good'}>
        {OUTCOMES[outcome]} {reason !== null && adviceFor(reason)}
      </Notice>
      <Facts
        facts={[
          ['Reason', reason === null ? undefined : <code key="reason">{reason}</code>],
          ['Email', email ?? '–'],
          ['Role', role ?? '–'],
          ['Subject', <code key="subject">{subject ?? '–'}</code>],
        ]}
      />
      <Code label="Claims of the ID token" variants={[['Claims', JSON.stringify(claims, null, 2)]]} />
    </Stack>
  );
};

const WaitForResult = ({ test, ...part }: PartProps & { test: string }) => {
  const { parameters, query } = placeOf(part);
  const [isDone, setDone] = useState(false);
  const { data, error } = useRead(
    'GET /v1/identity-providers/{id}/test/{test}',
    { parameters: { ...parameters, test }, query },
    { refetchMs: POLL_MS, enabled: !isDone },
  );
  if (data && !isDone) setDone(true);
  if (data) return <Result result={data} />;
  if (error && error.status !== 404) return <Failure failure={error} />;
  return <p role="status">Sign in with your provider in the new tab. The result appears here.</p>;
};

/** A login that changes nothing, and shows the claims and the role that they give. */
export const TestLogin = (part: PartProps) => {
  const [test, setTest] = useState<string>();
  const [failure, setFailure] = useState<Error>();
  const begin = async () => {
    setFailure(undefined);
    let tab: Window | undefined;
    try {
      tab = openTab();
      const begun = await request('POST /v1/identity-providers/{id}/test', placeOf(part));
      setTest(begun.id);
      tab.location.assign(begun.authorize_url);
    } catch (error) {
      tab?.close();
      setFailure(error as Error);
    }
  };
  return (
    <Section title="Test login" actions={<Button onClick={() => void begin()}>Test login</Button>}>
      {failure && <Failure failure={failure} />}
      {test === undefined ? (
        <p>Sign in with the provider in a new tab to see the claims it sends and the role they give. Nothing is changed.</p>
      ) : (
        <WaitForResult key={test} test={test} {...part} />
      )}
    </Section>
  );
};
