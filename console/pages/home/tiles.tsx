import { can, type Me, seesOnlyOwn, useSignedIn } from '../../client/me.ts';
import { ScreenLink } from '../../design/controls/screen-link.tsx';
import { Count, Gauge, Money } from '../../design/data/values.tsx';
import { counted, formatMoney, nearestCent } from '../../design/format/amounts.ts';
import { Tile, Tiles } from '../../design/layout/layout.tsx';
import { type Summary, ticketsWaitingOn } from './attention.ts';

type CostTilesProps = Pick<Summary, 'costs' | 'budget' | 'credit'> & { me: Me };

const CostTiles = ({ costs, budget, credit, me }: CostTilesProps) => (
  <>
    {costs && (
      <Tile
        label={seesOnlyOwn(me) ? 'Your cost this month' : 'Cost this month'}
        value={<Money amount={costs.month_to_date} />}
        note={
          <>
            <Money amount={costs.last_month_to_same_day} /> by the same day last month
          </>
        }
      />
    )}
    {costs && <Tile label={seesOnlyOwn(me) ? 'Your cost today' : 'Cost today'} value={<Money amount={costs.today} />} note="UTC" />}
    {costs?.forecast && (
      <Tile
        label={seesOnlyOwn(me) ? 'Your month-end forecast' : 'Month-end forecast'}
        value={<Money amount={nearestCent(costs.forecast)} />}
        note={
          <>
            <Money amount={costs.last_month} /> last month
          </>
        }
      />
    )}
    {credit?.prepaid && (
      <Tile
        label="Credit available"
        value={<Money amount={credit.balance} />}
        note={<ScreenLink to="/billing?view=credit">View credit</ScreenLink>}
      />
    )}
    {budget?.month_budget && (
      <Tile
        label="Budget left this month"
        value={<Money amount={budget.left} />}
        note={<Gauge label="Used" used={budget.spent ?? '0'} limit={budget.month_budget} format={formatMoney} />}
      />
    )}
  </>
);

type UseTilesProps = Pick<Summary, 'requests' | 'api_keys' | 'deployments'> & { me: Me };

const UseTiles = ({ requests, api_keys, deployments, me }: UseTilesProps) => (
  <>
    {requests && (
      <Tile
        label={seesOnlyOwn(me) ? 'Your requests in the last 24 hours' : 'Requests in the last 24 hours'}
        value={<Count value={requests.requests} />}
        note={
          <ScreenLink to="/requests">
            <Count value={requests.errors} /> failed, <Count value={requests.refusals} /> rejected
          </ScreenLink>
        }
      />
    )}
    {api_keys && (
      <Tile
        label={seesOnlyOwn(me) ? 'Your active API keys' : 'Active API keys'}
        value={<Count value={api_keys.open} />}
        note={
          <ScreenLink to="/api-keys">
            {can(me, 'keys:write') ? (
              <>
                <Count value={api_keys.left} /> more available
              </>
            ) : (
              'View API keys'
            )}
          </ScreenLink>
        }
      />
    )}
    {deployments && (
      <Tile
        label="Deployment cost per hour"
        value={<Money amount={deployments.cost_per_hour_now} />}
        note={
          <ScreenLink to="/deployments">
            {counted(
              Object.values(deployments.states).reduce((sum, count) => sum + count, 0),
              'deployment',
              'deployments',
            )}
          </ScreenLink>
        }
      />
    )}
  </>
);

/** The numbers of the sections that the user can see. */
export const SummaryTiles = ({ summary }: { summary: Summary }) => {
  const me = useSignedIn();
  return (
    <Tiles>
      <CostTiles {...summary} me={me} />
      {/* The platform's home has a section for them. */}
      <UseTiles {...summary} me={me} deployments={summary.organization === null ? null : summary.deployments} />
      {summary.tickets && (
        <Tile
          label={can(me, 'tickets:write') ? 'Tickets waiting for you' : 'Tickets waiting for your organization'}
          value={<Count value={summary.tickets.waiting_on_me} />}
          note={
            <ScreenLink to={ticketsWaitingOn(summary.tickets)}>
              {summary.tickets.is_partial ? 'Among the newest tickets' : 'View tickets'}
            </ScreenLink>
          }
        />
      )}
      {summary.invoices && (
        <Tile
          label="Open invoices"
          value={<Count value={summary.invoices.open} />}
          note={
            <ScreenLink to="/invoices?state=issued">
              <Count value={summary.invoices.overdue} /> overdue
            </ScreenLink>
          }
        />
      )}
    </Tiles>
  );
};
