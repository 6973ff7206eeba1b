import { useRead } from '../../client/queries.ts';
import type { ReplyBody } from '../../client/routes.ts';
import { IdLink } from '../../design/controls/id-link.tsx';
import { ScreenLink } from '../../design/controls/screen-link.tsx';
import { Table } from '../../design/data/table.tsx';
import { Count, Duration, Time } from '../../design/data/values.tsx';
import { Empty } from '../../design/feedback/failure.tsx';
import { Loaded } from '../../design/feedback/loaded.tsx';
import { Section, Stack, Tile, Tiles } from '../../design/layout/layout.tsx';

type Now = ReplyBody<'GET /v1/observability/now'>;

const REFRESH_MS = 30_000;
const MAX_SHOWN = 5;

const COLUMNS = [
  { title: 'Model', render: ({ model }: Now['rows'][number]) => model ?? '–' },
  { title: 'Organization', render: ({ organization }: Now['rows'][number]) => <IdLink id={organization} /> },
  { title: 'API key', render: ({ api_key_id }: Now['rows'][number]) => <IdLink id={api_key_id} /> },
  { title: 'Requests', isNumeric: true, render: ({ requests }: Now['rows'][number]) => <Count value={requests} /> },
  { title: 'Failed', isNumeric: true, render: ({ errors }: Now['rows'][number]) => <Count value={errors} /> },
  { title: 'In progress', isNumeric: true, render: ({ in_flight }: Now['rows'][number]) => <Count value={in_flight} /> },
] as const;

const Minute = ({ now: { start_time, totals, rows } }: { now: Now }) => (
  <Stack>
    <Tiles>
      <Tile
        label="Requests per minute"
        value={<Count value={totals.requests} />}
        note={
          <>
            Minute that started <Time seconds={start_time} />
          </>
        }
      />
      <Tile
        label="Failed"
        value={<Count value={totals.errors} />}
        note={totals.errors > 0 && <ScreenLink to="/requests">View requests</ScreenLink>}
      />
      <Tile
        label="Time to first token (p50)"
        value={<Duration milliseconds={totals.time_to_first_token_ms?.p50} />}
        note={
          <>
            p99: <Duration milliseconds={totals.time_to_first_token_ms?.p99} />
          </>
        }
      />
      <Tile
        label="Request duration (p50)"
        value={<Duration milliseconds={totals.duration_ms?.p50} />}
        note={
          <>
            p99: <Duration milliseconds={totals.duration_ms?.p99} />
          </>
        }
      />
    </Tiles>
    <Table
      label="Busiest API keys of the minute"
      rows={rows.slice(0, MAX_SHOWN)}
      keyOf={({ model, api_key_id }) => `${model} ${api_key_id}`}
      columns={COLUMNS}
    />
  </Stack>
);

/** The newest minute with requests of all organizations. */
export const HealthNow = () => {
  const query = useRead('GET /v1/observability/now', {}, { refetchMs: REFRESH_MS });
  return (
    <Section title="Health now">
      <Loaded query={query}>
        {(now) =>
          now.start_time === null ? (
            <Empty title="No requests in the last four minutes">
              <p>Requests are counted here within about a minute.</p>
            </Empty>
          ) : (
            <Minute now={now} />
          )
        }
      </Loaded>
    </Section>
  );
};
