import { useRead } from '../../client/queries.ts';
import { IdLink } from '../../design/controls/id-link.tsx';
import { ScreenLink } from '../../design/controls/screen-link.tsx';
import { Table } from '../../design/data/table.tsx';
import { Chip, Count, Money, Time } from '../../design/data/values.tsx';
import { Loaded } from '../../design/feedback/loaded.tsx';
import { sumOf } from '../../design/format/amounts.ts';
import { Section, Stack, Tile, Tiles } from '../../design/layout/layout.tsx';
import { type Deployment, instancesOf, isWaiting, notableOf } from './running.ts';

const REFRESH_MS = 60_000;
const MAX_READ = 100;
const MAX_SHOWN = 8;

const COLUMNS = [
  {
    title: 'Deployment',
    render: ({ id, organization, name }: Deployment) => (
      <ScreenLink to={`/deployments/${id}?${new URLSearchParams({ organization })}`}>{name}</ScreenLink>
    ),
  },
  { title: 'Organization', render: ({ organization }: Deployment) => <IdLink id={organization} /> },
  {
    title: 'State',
    isWhole: true,
    render: ({ state, state_since, wake }: Deployment) => (
      <>
        <Chip state={state} tone={isWaiting({ state }) ? 'accent' : undefined} />{' '}
        {wake ? (
          <>
            ready <Time seconds={wake.expected_at} />
          </>
        ) : (
          <Time seconds={state_since} />
        )}
      </>
    ),
  },
  { title: 'Instances', isNumeric: true, render: (each: Deployment) => <Count value={instancesOf(each)} /> },
  { title: 'Cost per hour', isNumeric: true, render: ({ price_per_hour }: Deployment) => <Money amount={price_per_hour} /> },
] as const;

/** The present cost of all organizations' instances, and the deployments that wait or have failed. */
export const GpuNow = () => {
  const query = useRead('GET /v1/deployments', { query: { limit: MAX_READ } }, { refetchMs: REFRESH_MS });
  return (
    <Section title="GPU costs now" actions={<ScreenLink to="/deployments">All deployments</ScreenLink>}>
      <Loaded query={query}>
        {({ data, has_more }) => {
          const notable = notableOf(data);
          return (
            <Stack>
              <Tiles>
                <Tile
                  label="Cost per hour"
                  value={<Money amount={sumOf(data.map(({ price_per_hour }) => price_per_hour))} />}
                  note={has_more ? `Of the first ${data.length} deployments only` : 'Across all organizations'}
                />
                <Tile
                  label="Running instances"
                  value={<Count value={data.reduce((sum, each) => sum + instancesOf(each), 0)} />}
                  note="Billed per second"
                />
                <Tile
                  label="Starting deployments"
                  value={<Count value={data.filter(isWaiting).length} />}
                  note="Created or woken, no copy ready yet"
                />
                <Tile
                  label="Failed"
                  value={<Count value={data.filter(({ state }) => state === 'failed').length} />}
                  note={<ScreenLink to="/deployments?state=failed">View deployments</ScreenLink>}
                />
              </Tiles>
              {notable.length > 0 && (
                <Table
                  label="Running, starting and failed deployments"
                  rows={notable.slice(0, MAX_SHOWN)}
                  keyOf={({ id }) => id}
                  columns={COLUMNS}
                />
              )}
            </Stack>
          );
        }}
      </Loaded>
    </Section>
  );
};
