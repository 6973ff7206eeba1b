import { useState } from 'react';
import { seesOnlyOwn, useSignedIn } from '../../client/me.ts';
import { useRead } from '../../client/queries.ts';
import { Chart } from '../../design/data/chart.tsx';
import { Gauge, Money } from '../../design/data/values.tsx';
import { Loaded } from '../../design/feedback/loaded.tsx';
import { formatAxisMoney, formatMoney, sumOf } from '../../design/format/amounts.ts';
import { rangeOf } from '../../design/format/ranges.ts';
import { formatDay } from '../../design/format/times.ts';
import { Facts, Section, Stack } from '../../design/layout/layout.tsx';

const DAYS_OF_MONTH = 31;

const sumOfDay = ({ results }: { results: readonly { cost: string }[] }): string => sumOf(results.map(({ cost }) => cost));

/**
 * The cost of an organization since the month began, by day. Members see the cost of their API keys, which says nothing
 * about the budget. @param budget of a month; null: none
 */
export const CostThisMonth = ({ id, budget }: { id: string; budget: string | null }) => {
  const isOwn = seesOnlyOwn(useSignedIn());
  const [start] = useState(() => rangeOf('month', { from: '', to: '' }, Math.floor(Date.now() / 1_000)).startS);
  const query = useRead('GET /v1/organization/costs', {
    query: { organization: id, start_time: String(start), limit: String(DAYS_OF_MONTH) },
  });
  return (
    <Section title={isOwn ? 'Cost of your API keys this month (UTC)' : 'Cost this month (UTC)'} isCard>
      <Loaded query={query}>
        {({ data: days }) => {
          const texts = days.map(sumOfDay);
          const total = sumOf(texts);
          return (
            <Stack>
              <h3>
                <Money amount={total} />
              </h3>
              {budget !== null && !isOwn && <Gauge label="Budget used" used={total} limit={budget} format={formatMoney} />}
              {days.length > 1 && (
                <Chart
                  label="Cost by day"
                  times={days.map(({ start_time }) => start_time)}
                  series={[{ name: 'Cost', values: texts.map(Number), texts: texts.map(formatMoney) }]}
                  format={formatAxisMoney}
                  formatTime={formatDay}
                />
              )}
            </Stack>
          );
        }}
      </Loaded>
    </Section>
  );
};

/** The prepaid credit of an organization. */
export const CreditNow = ({ id }: { id: string }) => {
  const query = useRead('GET /v1/organizations/{id}/balance', { parameters: { id } });
  return (
    <Section title="Credit" isCard>
      <Loaded query={query}>
        {({ available, granted, spent, held }) => (
          <Facts
            facts={[
              ['Available', <Money key="left" amount={available} />],
              ['Granted', <Money key="granted" amount={granted} />],
              ['Spent', <Money key="spent" amount={spent} />],
              ['Reserved for requests', <Money key="held" amount={held} />],
            ]}
          />
        )}
      </Loaded>
    </Section>
  );
};
