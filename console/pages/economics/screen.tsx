import { useState } from 'react';
import { isOfPlatform, useSignedIn } from '../../client/me.ts';
import { useList } from '../../client/queries.ts';
import { useUrlStates } from '../../client/url-state.ts';
import { FilterField } from '../../design/controls/filter-field.tsx';
import { RangeFields } from '../../design/controls/range-fields.tsx';
import { More } from '../../design/data/table.tsx';
import { Empty } from '../../design/feedback/failure.tsx';
import { Loaded } from '../../design/feedback/loaded.tsx';
import { faultOfMoney, MOST_PER_UNIT } from '../../design/format/amounts.ts';
import { ownCurrency } from '../../design/format/currency.ts';
import { faultOfDays, rangeNamed } from '../../design/format/ranges.ts';
import { OrganizationField } from '../../design/forms/organization-field.tsx';
import { Filters, Page } from '../../design/layout/layout.tsx';
import { ECONOMICS_NAMES, ECONOMICS_RANGES, economicsQuery } from './economics-query.ts';
import { EconomicsResults } from './economics-results.tsx';

// The API reads no more.
const MAX_DAYS = 366;

const faultOf = (price: string): string | undefined => faultOfMoney(price, '0.22', MOST_PER_UNIT);

/** The cost of each deployment, what it was used for and, for the platform, what it earned. */
export const Screen = () => {
  const isPlatform = isOfPlatform(useSignedIn());
  const [values, change] = useUrlStates(ECONOMICS_NAMES);
  const [nowS] = useState(() => Math.floor(Date.now() / 1_000));
  const range = rangeNamed(values.range, ECONOMICS_RANGES);
  const question = economicsQuery(range, values, nowS);
  const fault = faultOfDays(range, values, Date.now() / 1_000, MAX_DAYS);
  const query = useList('GET /v1/economics', { query: question }, { enabled: !fault });
  return (
    <Page
      title="Economics"
      description={
        isPlatform
          ? 'The cost, revenue and utilization of deployments, in whole UTC days.'
          : 'The cost and utilization of your deployments, and their cost per million tokens, in whole UTC days.'
      }
    >
      <Filters>
        <OrganizationField value={values.organization} onChange={(organization) => change({ organization })} />
        <RangeFields names={ECONOMICS_RANGES} name={range} from={values.from} to={values.to} onChange={change} isByDay />
        <FilterField
          label={`List price per 1M prompt tokens (${ownCurrency().symbol})`}
          value={values.prompt}
          onChange={(prompt) => change({ prompt })}
          fault={faultOf(values.prompt)}
          placeholder="0.22"
        />
        <FilterField
          label={`List price per 1M completion tokens (${ownCurrency().symbol})`}
          value={values.completion}
          onChange={(completion) => change({ completion })}
          fault={faultOf(values.completion)}
          placeholder="0.22"
        />
      </Filters>
      {fault ? (
        <Empty title={fault} />
      ) : (
        <Loaded query={query}>
          {(pages) => {
            const rows = pages.flatMap(({ data }) => data);
            return rows.length === 0 && !query.hasNextPage ? (
              <Empty title="No deployments ran in this period">
                <p>A deployment appears here once its instances have run. Choose a longer period.</p>
              </Empty>
            ) : (
              <>
                <EconomicsResults rows={rows} isPlatform={isPlatform} hasListPrice={'list_prompt' in question} />
                {query.hasNextPage && (
                  <More count={rows.length} hasMore isLoading={query.isFetching} onMore={() => void query.fetchNextPage()} />
                )}
              </>
            );
          }}
        </Loaded>
      )}
    </Page>
  );
};
