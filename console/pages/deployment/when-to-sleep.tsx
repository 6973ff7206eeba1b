import { readAgain, useRead } from '../../client/queries.ts';
import { request } from '../../client/request.ts';
import type { ReplyBody } from '../../client/routes.ts';
import { Table } from '../../design/data/table.tsx';
import { Count, Duration, Money } from '../../design/data/values.tsx';
import { Dialog } from '../../design/feedback/dialog.tsx';
import { Notice } from '../../design/feedback/failure.tsx';
import { Loaded } from '../../design/feedback/loaded.tsx';
import { formatMoney } from '../../design/format/amounts.ts';
import { DAY_S } from '../../design/format/units.ts';
import { Form } from '../../design/forms/form.tsx';
import { Note, Section, Stack } from '../../design/layout/layout.tsx';
import { type Deployment, roughly } from '../deployments/deployment-state.ts';
import { linesOfWindows } from '../deployments/windows.ts';

type Advice = ReplyBody<'GET /v1/deployments/{id}/advice'>;
type AdviceOption = Advice['options'][number];

const DAYS = 14;
const CENTS = 2;
const SECOND_MS = 1_000;

const nameOf = ({ scale_to_zero_after_seconds: seconds }: AdviceOption): string =>
  seconds === null ? 'never' : `after ${roughly(seconds)}`;

// The settings that an option has.
const settingsOf = ({ scale_to_zero_after_seconds, schedule, min_copies }: AdviceOption): string =>
  JSON.stringify([scale_to_zero_after_seconds, schedule, min_copies]);

const Windows = ({ schedule }: Pick<AdviceOption, 'schedule'>) =>
  schedule.length === 0 ? (
    '–'
  ) : (
    <Stack>
      {linesOfWindows(schedule)
        .split('\n')
        .map((line) => (
          <span key={line}>{line}</span>
        ))}
    </Stack>
  );

// On another instance type, no option is the present one.
const columns = (present: AdviceOption, options: readonly AdviceOption[], isOnOther = false) => [
  {
    title: 'Sleep',
    render: (option: AdviceOption) =>
      !isOnOther && settingsOf(option) === settingsOf(present) ? `${nameOf(option)} (now)` : nameOf(option),
    isWhole: true,
  },
  ...(options.some(({ schedule }) => schedule.length > 0)
    ? [{ title: 'Windows', render: ({ schedule }: AdviceOption) => <Windows schedule={schedule} /> }]
    : []),
  ...(options.some(({ min_copies: copies }) => copies !== present.min_copies)
    ? [{ title: 'Minimum copies', render: ({ min_copies: copies }: AdviceOption) => <Count value={copies} />, isNumeric: true }]
    : []),
  { title: 'Cost', render: ({ cost }: AdviceOption) => <Money amount={Number(cost).toFixed(CENTS)} />, isNumeric: true },
  { title: 'Cold starts', render: ({ cold_starts: starts }: AdviceOption) => <Count value={starts} />, isNumeric: true },
  { title: 'Waiting requests', render: ({ waiting_requests: waiting }: AdviceOption) => <Count value={waiting} />, isNumeric: true },
  {
    title: 'Wait (p95)',
    render: ({ wait_p95_seconds: seconds }: AdviceOption) => <Duration milliseconds={seconds * SECOND_MS} />,
    isNumeric: true,
  },
];

// The present settings are listed even if others are better in everything.
const optionsWith = (present: AdviceOption, options: readonly AdviceOption[]): AdviceOption[] =>
  options.some((option) => settingsOf(option) === settingsOf(present)) ? [...options] : [present, ...options];

const Options = ({ present, options }: { present: AdviceOption; options: readonly AdviceOption[] }) => (
  <Table label="Sleep settings" columns={columns(present, options)} rows={options} keyOf={settingsOf} />
);

const OnOtherType = ({ other, present }: { other: Advice['other_instance_types'][number]; present: AdviceOption }) => (
  <Section title={`On ${other.instance_type}`}>
    <Note>
      According to benchmarks, requests take {other.request_percent}% of the current time. Use "Roll out change" to switch; the cost of the
      rollout isn't included.
    </Note>
    <Table
      label={`Settings on ${other.instance_type}`}
      columns={columns(present, other.options, true)}
      rows={other.options}
      keyOf={settingsOf}
    />
  </Section>
);

interface WhenToSleepProps {
  deployment: Deployment;
  onClose: () => void;
}

const Suggestion = ({ advice, deployment, onClose }: WhenToSleepProps & { advice: Advice }) => {
  const { id, version } = deployment;
  const { suggestion } = advice;
  if (!suggestion) return <p>No other settings save {formatMoney('1')} a month, or have much less waiting at about the same cost.</p>;
  return (
    <Form
      submitLabel="Apply suggestion"
      onCancel={onClose}
      onSubmit={async () => {
        await request('PATCH /v1/deployments/{id}', { parameters: { id }, version, body: suggestion.apply.body });
        await readAgain('/v1/deployments');
        onClose();
      }}
    >
      <Notice tone="good">{suggestion.sentence}</Notice>
    </Form>
  );
};

/** Replays the last days of a deployment with other idle times, windows and copies, and applies the best of them. */
export const WhenToSleep = ({ deployment, onClose }: WhenToSleepProps) => {
  const query = useRead('GET /v1/deployments/{id}/advice', {
    parameters: { id: deployment.id },
    query: { days: DAYS, time_zone: Intl.DateTimeFormat().resolvedOptions().timeZone },
  });
  return (
    <Dialog title={`Sleep advice for ${deployment.name}`} onClose={onClose}>
      <Loaded query={query}>
        {(advice) =>
          advice.present === null ? (
            <p>There is no advice yet because the deployment has not existed for a whole UTC day. Come back tomorrow.</p>
          ) : (
            <>
              <p>
                Each setting applied to the last {(advice.to - advice.from) / DAY_S} whole UTC days, with {advice.requests} requests.
                Requests that got a 503 to retry later count as if they had waited.
              </p>
              <Options present={advice.present} options={optionsWith(advice.present, advice.options)} />
              <Suggestion advice={advice} deployment={deployment} onClose={onClose} />
              {advice.present &&
                advice.other_instance_types.map((other) => (
                  <OnOtherType key={other.instance_type} other={other} present={advice.present as AdviceOption} />
                ))}
            </>
          )
        }
      </Loaded>
    </Dialog>
  );
};
