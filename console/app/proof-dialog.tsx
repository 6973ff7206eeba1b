import { useEffect, useState } from 'react';
import { useIsFromProvider, useKnownMe } from '../client/me.ts';
import { askForProofWith } from '../client/proof.ts';
import { queryClient } from '../client/queries.ts';
import { request } from '../client/request.ts';
import { onLoginElsewhere, refresh } from '../client/session.ts';
import { Button } from '../design/controls/button.tsx';
import { TextField } from '../design/controls/fields.tsx';
import { Dialog } from '../design/feedback/dialog.tsx';
import { later } from '../design/feedback/later.tsx';
import { Skeleton } from '../design/feedback/loaded.tsx';
import { Form } from '../design/forms/form.tsx';
import { Row } from '../design/layout/layout.tsx';

const SingleSignOnForm = later(async () => (await import('../pages/sign-in/single-sign-on.tsx')).SingleSignOnForm);

type Close = (proved: boolean) => void;

const PasswordForm = ({ onClose }: { onClose: Close }) => {
  const [password, setPassword] = useState('');
  const [code, setCode] = useState('');
  return (
    <Form
      submitLabel="Confirm"
      canSubmit={password !== ''}
      onCancel={() => onClose(false)}
      onSubmit={async () => {
        await request('POST /v1/auth/proof', { body: { current_password: password, ...(code !== '' && { code }) } });
        onClose(true);
      }}
    >
      <TextField label="Password" type="password" value={password} onChange={setPassword} autoComplete="current-password" autoFocus />
      <TextField
        label="Code from your authenticator app, if you use one"
        value={code}
        onChange={setCode}
        inputMode="numeric"
        autoComplete="one-time-code"
        isCode
      />
    </Form>
  );
};

// A login in another tab is a proof as well, unless it is of another user.
const useLoginElsewhere = (userId: string | undefined, onClose: Close): void => {
  useEffect(
    () =>
      onLoginElsewhere(async () => {
        try {
          await refresh();
          const { id } = await request('GET /v1/me', {});
          if (id !== userId) void queryClient.invalidateQueries();
          onClose(id === userId);
        } catch {
          onClose(false);
        }
      }),
    [userId, onClose],
  );
};

const Question = ({ onClose }: { onClose: Close }) => {
  const me = useKnownMe();
  const { isPending, isFromProvider } = useIsFromProvider();
  const [isAtCompany, setAtCompany] = useState(false);
  useLoginElsewhere(me?.id, onClose);
  return (
    <Dialog title="Confirm your identity" onClose={() => onClose(false)}>
      <p>This changes money or permissions, and it has been a while since you signed in.</p>
      {isAtCompany || isFromProvider ? (
        <>
          <p>Sign in with your company again. This page stays open.</p>
          <SingleSignOnForm email={me?.email} isInNewTab onCancel={() => onClose(false)} />
        </>
      ) : isPending ? (
        <Skeleton />
      ) : (
        <>
          <PasswordForm onClose={onClose} />
          <Row>
            <Button look="plain" onClick={() => setAtCompany(true)}>
              Sign in with your company instead
            </Button>
          </Row>
        </>
      )}
    </Dialog>
  );
};

/** Asks for the password, or for a login with the company, before a change of money or rights, if the login is old. */
export const ProofDialog = () => {
  const [close, setClose] = useState<Close>();
  useEffect(() => {
    askForProofWith(
      () =>
        new Promise((resolve) =>
          setClose(() => (proved: boolean) => {
            resolve(proved);
            setClose(undefined);
          }),
        ),
    );
    return () => askForProofWith(undefined);
  }, []);
  return close ? <Question onClose={close} /> : null;
};
