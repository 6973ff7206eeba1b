import { useEffect, useState } from 'react';
import { openTab } from '../../client/new-tab.ts';
import type { ReplyBody } from '../../client/routes.ts';
import { beginSession } from '../../client/session.ts';
import { beginSingleSignOn, finishSingleSignOn, leaveReturnPage } from '../../client/single-sign-on.ts';
import { Button } from '../../design/controls/button.tsx';
import { CheckField, TextField } from '../../design/controls/fields.tsx';
import { Failure, Notice } from '../../design/feedback/failure.tsx';
import { Skeleton } from '../../design/feedback/loaded.tsx';
import { Form } from '../../design/forms/form.tsx';
import { Entrance, Row } from '../../design/layout/layout.tsx';
import { ChallengeForm, type Pending } from './challenge-form.tsx';

interface SingleSignOnFormProps {
  /** The user whose session has ended, or who must prove who they are. */
  email?: string | undefined;
  /** True: the login is in another tab, and this one goes on when it is done. */
  isInNewTab?: boolean;
  onCancel: () => void;
}

const beginInNewTab = async (email: string, staysSignedIn: boolean): Promise<void> => {
  const tab = openTab();
  try {
    await beginSingleSignOn(email, staysSignedIn, tab);
  } catch (error) {
    tab.close();
    throw error;
  }
};

/** Asks for an email address, and sends the browser to the identity provider of its domain. */
export const SingleSignOnForm = ({ email: known = '', isInNewTab = false, onCancel }: SingleSignOnFormProps) => {
  const [email, setEmail] = useState(known);
  const [staysSignedIn, setStays] = useState(false);
  const [isBegun, setBegun] = useState(false);
  return (
    <Form
      submitLabel={isBegun ? 'Open sign-in again' : "Continue to your company's sign-in"}
      canSubmit={email !== ''}
      onCancel={onCancel}
      onSubmit={async () => {
        await (isInNewTab ? beginInNewTab : beginSingleSignOn)(email, staysSignedIn);
        setBegun(isInNewTab);
      }}
    >
      {isBegun && <Notice tone="good">Sign in on the new tab. This page then continues and keeps everything that you typed.</Notice>}
      <TextField label="Email" type="email" value={email} onChange={setEmail} autoComplete="username" autoFocus />
      <CheckField
        label="Stay signed in"
        hint="For as long as your company allows. Otherwise, your session ends when you close the browser."
        checked={staysSignedIn}
        onChange={setStays}
      />
    </Form>
  );
};

const GoBack = ({ onStay }: { onStay: () => void }) => (
  <Entrance>
    <h1>You are signed in</h1>
    <p>Continue in the tab that you came from. You can close this one.</p>
    <Row>
      <Button onClick={onStay}>Use the console here</Button>
    </Row>
  </Entrance>
);

// React can run an effect twice, and a code is accepted once.
let finishing: ReturnType<typeof finishSingleSignOn> | undefined;

/** Signs in with the code of a single sign-on, then shows the page at which it was begun. */
export const FinishSingleSignOn = ({ code, onDone }: { code: string; onDone: () => void }) => {
  const [failure, setFailure] = useState<Error>();
  const [pending, setPending] = useState<Pending>();
  const [begun, setBegun] = useState<{ returnTo: string | null; isForOtherTab: boolean }>();
  const [isDone, setDone] = useState(false);

  useEffect(() => {
    finishing ??= finishSingleSignOn(code);
    finishing.then(({ result, email, staysSignedIn, isForOtherTab }) => {
      setBegun({ returnTo: result.return_to, isForOtherTab });
      if (result.object === 'challenge') return setPending({ email, staysSignedIn, challenge: result });
      leaveReturnPage(result.return_to);
      beginSession(result);
      if (isForOtherTab) setDone(true);
      else onDone();
    }, setFailure);
  }, [code, onDone]);

  const leave = () => {
    leaveReturnPage(null);
    onDone();
  };
  const onResult = (result: ReplyBody<'POST /v1/auth/browser/login'>) => {
    if (result.object === 'challenge') return setPending((was) => was && { ...was, challenge: result });
    leaveReturnPage(begun?.returnTo ?? null);
    beginSession(result);
    if (begun?.isForOtherTab) setDone(true);
    else onDone();
  };
  if (isDone) return <GoBack onStay={onDone} />;
  return (
    <Entrance>
      <h1>Sign in to Sluice</h1>
      {failure && (
        <>
          <Failure failure={failure} />
          <Button onClick={leave}>Back to sign-in</Button>
        </>
      )}
      {pending && <ChallengeForm pending={pending} onCancel={leave} onResult={onResult} />}
      {!failure && !pending && <Skeleton label="Signing in" />}
    </Entrance>
  );
};
