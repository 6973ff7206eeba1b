import { useState } from 'react';
import { useChosenOrganization } from '../../client/chosen-organization.ts';
import { isOfPlatform, useSignedIn } from '../../client/me.ts';
import { useRead } from '../../client/queries.ts';
import { useUrlState } from '../../client/url-state.ts';
import { SelectField } from '../../design/controls/fields.tsx';
import { ScreenLink } from '../../design/controls/screen-link.tsx';
import { type Column, Table } from '../../design/data/table.tsx';
import type { Tone } from '../../design/data/tone.ts';
import { Chip, Count, Money } from '../../design/data/values.tsx';
import { Empty, Notice } from '../../design/feedback/failure.tsx';
import { Loaded } from '../../design/feedback/loaded.tsx';
import { OrganizationField } from '../../design/forms/organization-field.tsx';
import { Filters, Page } from '../../design/layout/layout.tsx';
import { monthName } from '../invoices/invoice-state.ts';
import { modelPath } from '../models/model-path.ts';
import { MEASURE_NAMES, thresholdText } from '../service-promise/promise-words.ts';
import { type LevelRow, type LevelState, levelMonths, levelRows } from './level-rows.ts';

const TONES: Partial<Record<LevelState, Tone>> = { kept: 'good', 'kept so far': 'good', missed: 'bad', 'missed so far': 'warn' };

const COLUMNS: readonly Column<LevelRow>[] = [
  { title: 'Model', render: ({ model }) => <ScreenLink to={modelPath(model, null)}>{model}</ScreenLink> },
  { title: 'Measure', isWhole: true, render: ({ measure }) => MEASURE_NAMES[measure] },
  {
    title: 'Promised',
    isWhole: true,
    render: ({ measure, promise }) => `${measure === 'availability' ? 'at least' : 'at most'} ${thresholdText(measure, promise.threshold)}`,
  },
  { title: 'Measured', isWhole: true, render: ({ measured }) => measured ?? '–' },
  { title: 'Requests', isNumeric: true, render: ({ requests }) => <Count value={requests} /> },
  { title: 'State', render: ({ state }) => <Chip state={state} tone={TONES[state]} /> },
  {
    title: 'Credit',
    isNumeric: true,
    render: ({ credit }) =>
      credit && (
        <>
          {credit.percent}% of <Money amount={credit.charges} />
        </>
      ),
  },
];

const Levels = ({ organization, month }: { organization: string | undefined; month: string }) => {
  const query = useRead('GET /v1/service-levels', { query: { month, ...(organization && { organization }) } });
  const invoices = `/invoices?${new URLSearchParams({ month, ...(organization && { organization }) })}`;
  return (
    <Loaded query={query}>
      {(levels) => {
        const rows = levelRows(levels);
        if (rows.length === 0)
          return (
            <Empty title={`No promises in ${monthName(month)}`}>
              <p>
                If you use a shared model with a promise, you see here whether it was kept, and the credit if it was missed. The page of
                each <ScreenLink to="/models">model</ScreenLink> shows its promise.
              </p>
            </Empty>
          );
        return (
          <>
            {levels.credit_note !== null && (
              <Notice>
                <p>
                  A credit note for the month's <ScreenLink to={invoices}>invoice</ScreenLink> shows the numbers for each missed promise.
                </p>
              </Notice>
            )}
            {!levels.is_final && <Notice>These are counts so far. Percentiles and credits are available with the month's invoice.</Notice>}
            <Table
              label={`Service levels of ${monthName(month)}`}
              columns={COLUMNS}
              rows={rows}
              keyOf={({ model, measure }) => `${model} ${measure}`}
            />
          </>
        );
      }}
    </Loaded>
  );
};

/** How shared models kept their promises in a month, for an organization. */
export const Screen = () => {
  const me = useSignedIn();
  const { chosen, setChosen, organization, needsChoice } = useChosenOrganization();
  const [nowMs] = useState(() => Date.now());
  const [month, setMonth] = useUrlState<string>('month', '');
  const months = levelMonths(nowMs, month);
  const [current = ''] = months;
  const chosenMonth = months.includes(month) ? month : current;
  return (
    <Page
      title="Service levels"
      description={`Promised and measured service levels of the shared models that ${isOfPlatform(me) ? 'an' : 'your'} organization used, with credits for missed promises, by UTC month.`}
    >
      <Filters>
        <OrganizationField value={chosen} onChange={setChosen} />
        <SelectField
          label="Month"
          value={chosenMonth}
          onChange={setMonth}
          choices={months.map((each) => [each, each === current ? `${monthName(each)}, so far` : monthName(each)] as const)}
        />
      </Filters>
      {needsChoice ? (
        <Empty title="Choose an organization">
          <p>Service levels are measured for each organization.</p>
        </Empty>
      ) : (
        <Levels organization={organization} month={chosenMonth} />
      )}
    </Page>
  );
};
