import type { ReactNode } from 'react';
import { ApiFailure } from '../../client/api-failure.ts';
import { Button } from '../controls/button.tsx';
import { CopyText } from '../controls/copy.tsx';
import classes from './feedback.module.css';

/** A failure in the service's own words, with the id that support asks for. */
export const Failure = ({ failure, onRetry }: { failure: Error; onRetry?: (() => void) | undefined }) => (
  <div className={classes.failure} role="alert">
    <p>{failure.message}</p>
    {failure instanceof ApiFailure && failure.requestId && (
      <p className={classes.small}>
        Request <CopyText text={failure.requestId} />
      </p>
    )}
    {onRetry && <Button onClick={onRetry}>Try again</Button>}
  </div>
);

/** A remark on what is below it. */
export const Notice = ({ tone, children }: { tone?: 'warn' | 'good'; children: ReactNode }) => (
  <div className={classes.notice} data-tone={tone} role={tone === 'warn' ? 'status' : undefined}>
    {children}
  </div>
);

/** Instead of an empty list: what would be here, and how it gets there. */
export const Empty = ({ title, children }: { title: string; children?: ReactNode }) => (
  <div className={classes.empty}>
    <h2>{title}</h2>
    {children}
  </div>
);
