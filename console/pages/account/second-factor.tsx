import { useState } from 'react';
import { type Me, useIsFromProvider } from '../../client/me.ts';
import { readAgain } from '../../client/queries.ts';
import { request } from '../../client/request.ts';
import type { ReplyBody } from '../../client/routes.ts';
import { Button } from '../../design/controls/button.tsx';
import { Code } from '../../design/controls/copy.tsx';
import { TextField } from '../../design/controls/fields.tsx';
import { Chip } from '../../design/data/values.tsx';
import { Dialog } from '../../design/feedback/dialog.tsx';
import { later } from '../../design/feedback/later.tsx';
import { Form } from '../../design/forms/form.tsx';
import { Row, Section } from '../../design/layout/layout.tsx';
import { ProofFields, proofOf } from './proof-fields.tsx';

const QrCode = later(async () => (await import('../../design/data/qr-code.tsx')).QrCode);

interface FactorDialogProps {
  hasFactor: boolean;
  onClose: () => void;
}

const EnterSecret = ({ secret: { secret, url }, onClose }: { secret: ReplyBody<'POST /v1/auth/totp'>; onClose: () => void }) => {
  const [code, setCode] = useState('');
  return (
    <Form
      submitLabel="Switch on second factor"
      canSubmit={code !== ''}
      onCancel={onClose}
      onSubmit={async () => {
        await request('POST /v1/auth/totp/verify', { body: { code: code.replaceAll(' ', '') } });
        await readAgain('/v1/me');
        onClose();
      }}
    >
      <p>Scan the QR code with your authenticator app, or enter the setup key by hand. Then enter the code the app shows.</p>
      <QrCode text={url} label="QR code of the setup key, which is also shown below as text" />
      <Code
        label="Setup key"
        variants={[
          ['Key', secret],
          ['URL', url],
        ]}
      />
      <TextField
        label="Code from the app"
        value={code}
        onChange={setCode}
        inputMode="numeric"
        autoComplete="one-time-code"
        isCode
        autoFocus
      />
    </Form>
  );
};

const SetUp = ({ hasFactor, onClose }: FactorDialogProps) => {
  const [password, setPassword] = useState('');
  const [code, setCode] = useState('');
  const [secret, setSecret] = useState<ReplyBody<'POST /v1/auth/totp'>>();
  return (
    <Dialog title={hasFactor ? 'Use another authenticator app' : 'Set up a second factor'} onClose={onClose}>
      {secret ? (
        <EnterSecret secret={secret} onClose={onClose} />
      ) : (
        <Form
          submitLabel="Continue"
          canSubmit={password !== ''}
          onCancel={onClose}
          onSubmit={async () => setSecret(await request('POST /v1/auth/totp', { body: proofOf(password, code) }))}
        >
          <ProofFields password={password} onPassword={setPassword} code={code} onCode={setCode} needsCode={hasFactor} />
        </Form>
      )}
    </Dialog>
  );
};

const SwitchOff = ({ onClose }: Pick<FactorDialogProps, 'onClose'>) => {
  const [password, setPassword] = useState('');
  const [code, setCode] = useState('');
  return (
    <Dialog title="Switch off second factor" onClose={onClose}>
      <Form
        submitLabel="Switch off second factor"
        look="danger"
        canSubmit={password !== '' && code !== ''}
        onCancel={onClose}
        onSubmit={async () => {
          await request('POST /v1/auth/totp/disable', { body: proofOf(password, code) });
          await readAgain('/v1/me');
          onClose();
        }}
      >
        <p>Without a second factor, anyone who knows your password can sign in.</p>
        <ProofFields password={password} onPassword={setPassword} code={code} onCode={setCode} needsCode />
      </Form>
    </Dialog>
  );
};

/** The user's own second factor: set up, replaced or switched off. */
export const SecondFactor = ({ me: { second_factor } }: { me: Me }) => {
  const [dialog, setDialog] = useState<'set-up' | 'off'>();
  const close = () => setDialog(undefined);
  const hasFactor = second_factor === 'on';
  const { isFromProvider } = useIsFromProvider();
  if (isFromProvider)
    return (
      <Section title="Second factor" isCard>
        <p>You sign in with your company's identity provider. Set up a second factor there.</p>
      </Section>
    );
  return (
    <Section title="Second factor" isCard>
      <Row>
        <Chip state={second_factor} tone={hasFactor ? 'good' : 'warn'} />
        <Button onClick={() => setDialog('set-up')}>{hasFactor ? 'Use another app' : 'Set up second factor'}</Button>
        {hasFactor && <Button onClick={() => setDialog('off')}>Switch off</Button>}
      </Row>
      <p>A code from an authenticator app that you enter after your password.</p>
      {dialog === 'set-up' && <SetUp hasFactor={hasFactor} onClose={close} />}
      {dialog === 'off' && <SwitchOff onClose={close} />}
    </Section>
  );
};
