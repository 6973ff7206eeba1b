import { type ReactNode, useContext, useState } from 'react';
import type { ApiFailure } from '../../client/api-failure.ts';
import { Button, type Look } from '../controls/button.tsx';
import classes from '../controls/controls.module.css';
import { Failure } from '../feedback/failure.tsx';
import { HoldDialog } from '../feedback/hold.ts';

interface FormProps {
  /** Sends the form. What it throws is shown, and what was typed stays. */
  onSubmit: (attempt: { idempotencyKey: string }) => Promise<unknown>;
  submitLabel: string;
  look?: Look;
  onCancel?: (() => void) | undefined;
  /** True: nothing is lost if the form is left while it is sent. Otherwise, what it made may be shown only here. */
  canStop?: boolean;
  /** True: there is something to send. */
  canSubmit?: boolean;
  /** The text for a failure, in place of its message. */
  explain?: (failure: ApiFailure) => ReactNode;
  children: ReactNode;
}

const reveal = (element: HTMLElement | null) => element?.scrollIntoView({ block: 'nearest' });

// A day without its time is an empty value, which would mean that there is none. So is any text that is no time.
const unreadable = (form: HTMLFormElement): HTMLInputElement | undefined =>
  [...form.querySelectorAll('input')].find(({ validity: { badInput, rangeOverflow } }) => badInput || rangeOverflow);

/** A form with its failure and its actions. A repeated attempt has the same idempotency key until one succeeds. */
export const Form = ({
  onSubmit,
  submitLabel,
  look = 'primary',
  onCancel,
  canStop = false,
  canSubmit = true,
  explain,
  children,
}: FormProps) => {
  const [idempotencyKey, setKey] = useState(() => crypto.randomUUID());
  const [isPending, setPending] = useState(false);
  const [error, setError] = useState<ApiFailure>();
  const hold = useContext(HoldDialog);
  // Without TanStack Query, which the sign-in page doesn't load.
  const send = async () => {
    setPending(true);
    hold(!canStop);
    setError(undefined);
    try {
      await onSubmit({ idempotencyKey });
      setKey(crypto.randomUUID());
    } catch (failure) {
      setError(failure as ApiFailure);
    } finally {
      hold(false);
      setPending(false);
    }
  };
  return (
    <form
      className={classes.form}
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        if (isPending || !canSubmit) return;
        const field = unreadable(event.currentTarget);
        if (field) field.reportValidity();
        else void send();
      }}
    >
      {children}
      {error && <div ref={reveal}>{explain?.(error) ?? <Failure failure={error} />}</div>}
      <div className={classes['form-actions']}>
        <Button type="submit" look={look} isBusy={isPending} disabled={!isPending && !canSubmit}>
          {isPending ? 'Please wait…' : submitLabel}
        </Button>
        {onCancel && (
          <Button onClick={onCancel} disabled={isPending && !canStop}>
            Cancel
          </Button>
        )}
      </div>
    </form>
  );
};
