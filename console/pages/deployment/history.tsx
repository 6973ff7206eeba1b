import { Table } from '../../design/data/table.tsx';
import { Time } from '../../design/data/values.tsx';
import { Section } from '../../design/layout/layout.tsx';
import { type Deployment, roughly } from '../deployments/deployment-state.ts';
import { StateChip } from '../deployments/state-chip.tsx';
import { ReasonText } from './reason-text.tsx';

/** The last changes of a deployment's state, the newest first. */
export const History = ({ deployment: { history } }: { deployment: Deployment }) => {
  const rows = history.map((entry, i) => ({ ...entry, number: i, until: history[i + 1]?.at })).reverse();
  return (
    <Section title="History">
      <Table
        label="State changes"
        rows={rows}
        keyOf={({ number }) => String(number)}
        columns={[
          { title: 'State', isWhole: true, render: ({ state }) => <StateChip state={state} /> },
          { title: 'Since', isWhole: true, render: ({ at }) => <Time seconds={at} /> },
          {
            title: 'Duration',
            isNumeric: true,
            render: ({ at, until }) => (until === undefined ? 'until now' : roughly(until - at)),
          },
          { title: 'Reason', render: ({ reason }) => (reason ? <ReasonText reason={reason} /> : '–') },
        ]}
      />
    </Section>
  );
};
