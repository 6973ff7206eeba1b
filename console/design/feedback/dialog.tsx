import { type ReactNode, useEffect, useId, useRef } from 'react';
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
  useEffect(() => {
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
