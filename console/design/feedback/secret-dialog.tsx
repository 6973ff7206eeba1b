import type { ReactNode } from 'react';
import { Button } from '../controls/button.tsx';
import { Code } from '../controls/copy.tsx';
import { Row } from '../layout/layout.tsx';
import { Dialog } from './dialog.tsx';
import { Notice } from './failure.tsx';
import { useStay } from './stay.ts';

interface SecretDialogProps {
  title: string;
  secret: string;
  /** The purpose of the secret, and what to do next. */
  children?: ReactNode;
  onClose: () => void;
}

/** Shows a secret for the only time, until the user says that it is saved. */
export const SecretDialog = ({ title, secret, children, onClose }: SecretDialogProps) => {
  useStay();
  return (
    <Dialog title={title}>
      <Notice tone="warn">Copy the secret now. You won't be able to see it again.</Notice>
      <Code label="Secret" variants={[['Secret', secret]]} />
      {children}
      <Row>
        <Button look="primary" onClick={onClose}>
          I have saved the secret
        </Button>
      </Row>
    </Dialog>
  );
};
