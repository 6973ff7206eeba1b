import { type ReactNode, useCallback, useId, useLayoutEffect, useRef } from 'react';
import classes from './feedback.module.css';
import { HoldDialog } from './hold.ts';

export interface DialogProps {
  title: string;
  onClose: () => void;
  children: ReactNode;
}

// The row of a table whose thing was deleted takes the focus with it.
const focusAround = (opener: Element | null): (() => void) => {
  const table = opener?.closest<HTMLElement>('section[tabindex]');
  return () => {
    if (document.activeElement !== document.body) return;
    (table?.isConnected ? table : document.querySelector<HTMLElement>('#main'))?.focus({ preventScroll: true });
  };
};

type OpenDialogProps = Omit<DialogProps, 'onClose'> & Partial<Pick<DialogProps, 'onClose'>>;

/**
 * A question or a form above the screen. It is open as long as it is rendered. Escape closes it, unless its form is
 * being sent, or it has no `onClose`, because there is no way around its question.
 */
export const Dialog = ({ title, onClose, children }: OpenDialogProps) => {
  const id = useId();
  const dialog = useRef<HTMLDialogElement>(null);
  const isHeld = useRef(false);
  const hold = useCallback((isOn: boolean) => {
    isHeld.current = isOn;
  }, []);
  // It is closed while it is still on the page: only then does the browser return the focus to what opened it.
  useLayoutEffect(() => {
    const { current } = dialog;
    const focusAgain = focusAround(document.activeElement);
    current?.showModal();
    return () => {
      current?.close();
      // The page is then as it is without the dialog.
      queueMicrotask(focusAgain);
    };
  }, []);
  return (
    <dialog
      ref={dialog}
      className={classes.dialog}
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault();
        if (!isHeld.current) onClose?.();
      }}
      // A browser closes it at a second Escape in any case.
      onClose={() => dialog.current?.showModal()}
    >
      <div className={classes['dialog-content']}>
        <h2 id={id}>{title}</h2>
        <HoldDialog value={hold}>{children}</HoldDialog>
      </div>
    </dialog>
  );
};
