import { useRead } from '../../client/queries.ts';
import { counted } from '../../design/format/amounts.ts';
import { Note } from '../../design/layout/layout.tsx';
import type { FilterValues, searchOf } from './filters.ts';
import { rejectedQuery, rejectionsIn } from './rejections.ts';

interface RejectedProps {
  values: FilterValues;
  search: ReturnType<typeof searchOf>;
}

/** How many requests of the chosen time were rejected, and why: those that were not admitted can't be found. */
export const Rejected = ({ values, search }: RejectedProps) => {
  const query = rejectedQuery(values, search);
  const { data } = useRead('GET /v1/observability/metrics', { query: query ?? {} }, { enabled: query !== undefined });
  const { count, codes } = rejectionsIn(data);
  if (count === 0) return null;
  return (
    <Note>
      {counted(count, 'request', 'requests')} in this time got an error as the reply:{' '}
      {codes.map(({ code, times }, i) => (
        <span key={code}>
          {i > 0 && ', '}
          {counted(times, 'time', 'times')} <code>{code}</code>
        </span>
      ))}
      . Requests that were not admitted, such as those over a limit, are only counted, and not in the list.
    </Note>
  );
};
