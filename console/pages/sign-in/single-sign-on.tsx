import { useEffect, useState } from 'react';
import { beginSession } from '../../client/session.ts';
import { beginSingleSignOn, finishSingleSignOn, leaveReturnPage } from '../../client/single-sign-on.ts';
import { Button } from '../../design/controls/button.tsx';
import { CheckField, TextField } from '../../design/controls/fields.tsx';
import { Failure } from '../../design/feedback/failure.tsx';
import { Skeleton } from '../../design/feedback/loaded.tsx';
import { Form } from '../../design/forms/form.tsx';
import { Entrance } from '../../design/layout/layout.tsx';
import { ChallengeForm, type Pending } from './challenge-form.tsx';

/** Asks for an e-mail address, and sends the browser to the identity provider of its domain. */
export const SingleSignOnForm = ({ onCancel }: { onCancel: () => void }) => {
  const [email, setEmail] = useState('');
  const [staysSignedIn, setStays] = useState(false);
  return (
    <Form
      submitLabel="Go to your company’s login"
      canSubmit={email !== ''}
      onCancel={onCancel}
      onSubmit={() => beginSingleSignOn(email, staysSignedIn)}
    >
      <TextField label="E-mail" type="email" value={email} onChange={setEmail} autoComplete="username" autoFocus />
      <CheckField
        label="Stay signed in"
        hint="Until the session ends that your company allows. Otherwise until you close the browser."
        checked={staysSignedIn}
        onChange={setStays}
      />
    </Form>
  );
};

// React can run an effect twice, and a code is accepted once.
let finishing: ReturnType<typeof finishSingleSignOn> | undefined;

/** Signs in with the code of a single sign-on, then shows the page at which it was begun. */
export const FinishSingleSignOn = ({ code, onDone }: { code: string; onDone: () => void }) => {
  const [failure, setFailure] = useState<Error>();
  const [pending, setPending] = useState<Pending>();
  const [returnTo, setReturnTo] = useState<string | null>(null);

  useEffect(() => {
    finishing ??= finishSingleSignOn(code);
    finishing.then(({ result, email, staysSignedIn }) => {
      setReturnTo(result.return_to);
      if (result.object === 'challenge') return setPending({ email, staysSignedIn, challenge: result });
      leaveReturnPage(result.return_to);
      beginSession(result);
      onDone();
    }, setFailure);
  }, [code, onDone]);

  const leave = () => {
    leaveReturnPage(null);
    onDone();
  };
  return (
    <Entrance>
      <h1>Sign in to Sluice</h1>
      {failure && (
        <>
          <Failure failure={failure} />
          <Button onClick={leave}>Back to the login</Button>
        </>
      )}
      {pending && (
        <ChallengeForm
          pending={pending}
          onCancel={leave}
          onResult={(result) => {
            if (result.object === 'challenge') return setPending({ ...pending, challenge: result });
            leaveReturnPage(returnTo);
            beginSession(result);
            onDone();
          }}
        />
      )}
      {!failure && !pending && <Skeleton label="Signing in" />}
    </Entrance>
  );
};
