import { type ReactNode, useId, useLayoutEffect, useRef } from 'react';
import classes from './feedback.module.css';

export interface DialogProps {
  title: string;
  onClose: () => void;
  children: ReactNode;
}

/** A question or a form above the screen. It is open as long as it is rendered; Escape closes it. */
export const Dialog = ({ title, onClose, children }: DialogProps) => {
  const id = useId();
  const dialog = useRef<HTMLDialogElement>(null);
  // It is closed while it is still on the page: only then does the browser return the focus to what opened it.
  useLayoutEffect(() => {
    const { current } = dialog;
    current?.showModal();
    return () => current?.close();
  }, []);
  return (
    <dialog
      ref={dialog}
      className={classes.dialog}
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
    >
      <div className={classes['dialog-content']}>
        <h2 id={id}>{title}</h2>
        {children}
      </div>
    </dialog>
  );
};
