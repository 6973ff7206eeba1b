import { useState } from 'react';
import { can, useSignedIn } from '../../client/me.ts';
import { useRead } from '../../client/queries.ts';
import type { ReplyBody } from '../../client/routes.ts';
import { Button } from '../../design/controls/button.tsx';
import { ScreenLink } from '../../design/controls/screen-link.tsx';
import { type Column, Table } from '../../design/data/table.tsx';
import { Chip, Gauge, Money } from '../../design/data/values.tsx';
import { Loaded } from '../../design/feedback/loaded.tsx';
import { formatMoney, sumOf } from '../../design/format/amounts.ts';
import { rangeOf } from '../../design/format/ranges.ts';
import { Section, Tile, Tiles } from '../../design/layout/layout.tsx';
import { type AlertRow, alertsOf } from './alerts.ts';
import { EditAlerts } from './edit-alerts.tsx';
import type { Profile } from './profile-draft.ts';

const MAX_DAYS = '31';

type Costs = ReplyBody<'GET /v1/organization/costs'>;
type Organization = ReplyBody<'GET /v1/organizations/{id}'>;

const spentIn = ({ data }: Costs): string => sumOf(data.flatMap(({ results }) => results.map(({ cost }) => cost)));

const ALERT_COLUMNS: readonly Column<AlertRow>[] = [
  { title: 'At', isWhole: true, render: ({ percent }) => `${percent}% of the monthly budget` },
  { title: 'Amount', isNumeric: true, render: ({ amount }) => <Money amount={amount} /> },
  {
    title: 'State',
    render: ({ isReached }) => <Chip state={isReached ? 'reached this month' : 'not reached'} tone={isReached ? 'warn' : undefined} />,
  },
];

const Alerts = ({
  profile,
  budget,
  spent,
  query,
}: {
  profile: Profile;
  budget: string | null;
  spent: string;
  query: { organization?: string };
}) => {
  const me = useSignedIn();
  const [edited, setEdited] = useState<Profile>();
  const { budget_thresholds, credit_thresholds } = profile;
  return (
    <Section title="Alerts" actions={can(me, 'billing:write') && <Button onClick={() => setEdited(profile)}>Edit alerts</Button>}>
      <p>
        Alerts are sent once per budget period by <ScreenLink to="/webhooks">webhook</ScreenLink> and by email to the addresses in the
        billing profile. They cover the budgets of the organization, its <ScreenLink to="/projects">projects</ScreenLink> and its{' '}
        <ScreenLink to="/api-keys">API keys</ScreenLink>.
      </p>
      {budget !== null && budget_thresholds.length > 0 && (
        <Table
          label="Alerts for this month's budget"
          columns={ALERT_COLUMNS}
          rows={alertsOf(budget_thresholds, { spent, budget })}
          keyOf={({ percent }) => String(percent)}
        />
      )}
      <p>
        {budget === null &&
          `Budgets of projects and API keys: ${listed(budget_thresholds)}. The organization has no budget; an admin can set one. `}
        Prepaid credit: {listed(credit_thresholds)}
        {credit_thresholds.length > 0 && ' of the balance after the last grant'}.
      </p>
      {edited && <EditAlerts profile={edited} query={query} onClose={() => setEdited(undefined)} />}
    </Section>
  );
};

const listed = (percentages: readonly number[]): string =>
  percentages.length === 0 ? 'no alerts' : `at ${percentages.map((percent) => `${percent}%`).join(', ')}`;

interface SpendingProps {
  limits: Organization['limits'];
  spent: string;
  /** For users of the platform: the organization. */
  organization: string | undefined;
}

const Spending = ({ limits, spent, organization }: SpendingProps) => {
  const screenOf = (path: string, values: Record<string, string> = {}): string => {
    const parameters = new URLSearchParams({ ...values, ...(organization !== undefined && { organization }) });
    return parameters.size === 0 ? path : `${path}?${parameters}`;
  };
  const budget = limits?.month_budget ?? null;
  return (
    <Tiles>
      <Tile
        label="Spent this month"
        value={<Money amount={spent} />}
        note={<ScreenLink to={screenOf('/usage', { range: 'month' })}>View usage</ScreenLink>}
      />
      <Tile
        label="Budget this month"
        value={budget === null ? 'none' : <Money amount={budget} />}
        note={budget !== null && <Gauge label="Spent" used={spent} limit={budget} format={formatMoney} />}
      />
      <Tile
        label="Payment"
        value={limits?.prepaid ? 'from credit' : 'by invoice'}
        note={
          limits?.prepaid ? (
            <ScreenLink to={screenOf('/billing', { view: 'credit' })}>View credit</ScreenLink>
          ) : (
            <ScreenLink to={screenOf('/invoices')}>View invoices</ScreenLink>
          )
        }
      />
    </Tiles>
  );
};

/** The spending of this month against its budget and alerts. */
export const Overview = ({ id, organization }: { id: string; organization: string | undefined }) => {
  const [nowS] = useState(() => Math.floor(Date.now() / 1_000));
  const query = organization === undefined ? {} : { organization };
  const { startS = 0 } = rangeOf('month', { from: '', to: '' }, nowS);
  const costs = useRead('GET /v1/organization/costs', { query: { ...query, start_time: String(startS), limit: MAX_DAYS } });
  const details = useRead('GET /v1/organizations/{id}', { parameters: { id } });
  const profile = useRead('GET /v1/billing/profile', { query });
  return (
    <Loaded query={costs}>
      {(page) => {
        const spent = spentIn(page);
        return (
          <Loaded query={details}>
            {(data) => (
              <>
                <Spending limits={data.limits} spent={spent} organization={organization} />
                <Loaded query={profile}>
                  {(stored) => <Alerts profile={stored} budget={data.limits?.month_budget ?? null} spent={spent} query={query} />}
                </Loaded>
              </>
            )}
          </Loaded>
        );
      }}
    </Loaded>
  );
};
