import type { ReactNode } from 'react';
import { type ApiFailure, needsSecondFactor } from '../../client/api-failure.ts';
import { ButtonLink } from '../controls/button.tsx';
import { Empty, Failure, Notice } from './failure.tsx';
import classes from './feedback.module.css';

const BARS = ['60%', '100%', '85%', '95%', '70%'];

/** The place of something that is being read. */
export const Skeleton = ({ label = 'Loading' }: { label?: string }) => (
  <div className={classes.skeleton} role="status" aria-label={label}>
    {BARS.map((width) => (
      <div key={width} className={classes.bar} style={{ width }} />
    ))}
  </div>
);

interface Query<Data> {
  data: Data | undefined;
  error: ApiFailure | null;
  refetch: () => unknown;
}

/**
 * Something that was read, or its place, or why it can't be shown. Data that could not be renewed stays, and says so.
 */
export const Loaded = <Data,>({ query, children }: { query: Query<Data>; children: (data: Data) => ReactNode }) => {
  const { data, error, refetch } = query;
  if (data === undefined && error?.status === 403)
    return (
      <Empty title={needsSecondFactor(error) ? 'You need a second factor' : "You don't have access to this"}>
        <p>{error.message}</p>
        {needsSecondFactor(error) && <ButtonLink to="/account">Set up second factor</ButtonLink>}
      </Empty>
    );
  if (data === undefined && error) return <Failure failure={error} onRetry={() => void refetch()} />;
  if (data === undefined) return <Skeleton />;
  return (
    <>
      {error && <Notice tone="warn">This may be out of date: {error.message}</Notice>}
      {children(data)}
    </>
  );
};
