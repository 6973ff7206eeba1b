import type { ReplyBody } from '../../client/routes.ts';
import { CopyText } from '../../design/controls/copy.tsx';
import { IdLink } from '../../design/controls/id-link.tsx';
import type { Column } from '../../design/data/table.tsx';
import { Time } from '../../design/data/values.tsx';
import { Facts } from '../../design/layout/layout.tsx';
import { changeText, fieldsText } from './audit-query.ts';

type Entry = ReplyBody<'GET /v1/audit-log'>['data'][number];

const ACTORS: Readonly<Record<Entry['actor']['type'], string>> = { user: 'user', operator: 'operator', system: 'Sluice' };

const Author = ({ actor: { type, id, email } }: { actor: Entry['actor'] }) => (
  <>
    {email ?? ACTORS[type]} {type === 'user' ? <IdLink id={id} /> : id}
  </>
);

const Changes = ({ changes, reason }: Pick<Entry, 'changes' | 'reason'>) => {
  const fields = Object.entries(changes);
  return (
    <>
      {reason !== null && <p>{reason}</p>}
      {fields.length === 0 && reason === null && '–'}
      {fields.length > 0 && (
        <details>
          <summary>{fieldsText(fields.map(([name]) => name))}</summary>
          <Facts facts={fields.map(([name, change]) => [name, changeText(change)] as const)} />
        </details>
      )}
    </>
  );
};

/** The columns of the audit log. Everything that somebody wrote is shown as text. */
export const ENTRY_COLUMNS: readonly Column<Entry>[] = [
  { title: 'Time', isWhole: true, render: ({ at }) => <Time seconds={Math.floor(at / 1_000)} /> },
  { title: 'Action', isWhole: true, render: ({ action }) => <code>{action}</code> },
  { title: 'Actor', hasIds: true, render: ({ actor }) => <Author actor={actor} /> },
  {
    title: 'Target',
    hasIds: true,
    render: ({ target: { type, id } }) => (
      <>
        {type.replaceAll('_', ' ')} <IdLink id={id} />
      </>
    ),
  },
  { title: 'Changes', render: ({ changes, reason }) => <Changes changes={changes} reason={reason} /> },
  { title: 'IP address', isWhole: true, render: ({ ip_address }) => ip_address ?? '–' },
  { title: 'Request', render: ({ request_id }) => (request_id === null ? '–' : <CopyText text={request_id} label="copy id" />) },
];
