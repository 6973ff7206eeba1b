import type { ReactNode } from 'react';
import classes from './data.module.css';
import { Time } from './values.tsx';

/** Messages below one another. Screen readers announce new ones. */
export const Thread = ({ label, children }: { label: string; children: ReactNode }) => (
  <div className={classes.thread} role="log" aria-label={label}>
    {children}
  </div>
);

interface MessageProps {
  author: ReactNode;
  /** Unix time in seconds. */
  seconds: number;
  /** `internal`: not for everybody who takes part. */
  kind: 'own' | 'other' | 'internal';
  /** Shown as text, with its line breaks. */
  body: string;
  /** Below the text, such as files. */
  children?: ReactNode;
}

/** A message of a thread. */
export const Message = ({ author, seconds, kind, body, children }: MessageProps) => (
  <article className={classes.message} data-kind={kind}>
    <div className={classes['message-head']}>
      <strong>{author}</strong>
      <Time seconds={seconds} />
      {kind === 'internal' && <span className={classes['message-label']}>Internal note, visible only to support</span>}
    </div>
    <div className={classes['message-body']}>{body}</div>
    {children && <div className={classes['message-foot']}>{children}</div>}
  </article>
);
