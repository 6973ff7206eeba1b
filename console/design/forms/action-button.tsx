import { useState } from 'react';
import { Button, type Look } from '../controls/button.tsx';
import { Dialog } from '../feedback/dialog.tsx';
import { Failure } from '../feedback/failure.tsx';
import { Row } from '../layout/layout.tsx';

interface ActionButtonProps {
  label: string;
  look?: Look;
  /** Its error is shown. */
  onAct: () => Promise<unknown>;
}

/** Does something at once that can be undone. */
export const ActionButton = ({ label, look, onAct }: ActionButtonProps) => {
  const [isPending, setPending] = useState(false);
  const [failure, setFailure] = useState<Error>();
  const act = async () => {
    setPending(true);
    try {
      await onAct();
    } catch (error) {
      setFailure(error as Error);
    } finally {
      setPending(false);
    }
  };
  return (
    <>
      <Button {...(look && { look })} isBusy={isPending} onClick={() => void act()}>
        {label}
      </Button>
      {failure && (
        <Dialog title={label} onClose={() => setFailure(undefined)}>
          <Failure failure={failure} />
          <Row>
            <Button onClick={() => setFailure(undefined)}>Close</Button>
          </Row>
        </Dialog>
      )}
    </>
  );
};
