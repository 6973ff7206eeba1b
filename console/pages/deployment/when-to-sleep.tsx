import { readAgain, useRead } from '../../client/queries.ts';
import { request } from '../../client/request.ts';
import type { ReplyBody } from '../../client/routes.ts';
import { Table } from '../../design/data/table.tsx';
import { Count, Duration, Money } from '../../design/data/values.tsx';
import { Dialog } from '../../design/feedback/dialog.tsx';
import { Notice } from '../../design/feedback/failure.tsx';
import { Loaded } from '../../design/feedback/loaded.tsx';
import { Form } from '../../design/forms/form.tsx';
import { type Deployment, roughly } from '../deployments/deployment-state.ts';

type Advice = ReplyBody<'GET /v1/deployments/{id}/advice'>;
type AdviceOption = Advice['options'][number];

const DAYS = 14;
const DAY_SECONDS = 86_400;
const SECOND_MS = 1_000;

const nameOf = ({ scale_to_zero_after_seconds: seconds }: AdviceOption): string =>
  seconds === null ? 'never' : `after ${roughly(seconds)}`;

const columns = (present: AdviceOption) => [
  {
    title: 'Sleeps',
    render: (option: AdviceOption) =>
      option.scale_to_zero_after_seconds === present.scale_to_zero_after_seconds ? `${nameOf(option)} (now)` : nameOf(option),
    isWhole: true,
  },
  { title: 'Cost', render: ({ cost }: AdviceOption) => <Money amount={cost} />, isNumeric: true },
  { title: 'Cold starts', render: ({ cold_starts: starts }: AdviceOption) => <Count value={starts} />, isNumeric: true },
  { title: 'Requests that waited', render: ({ waiting_requests: waiting }: AdviceOption) => <Count value={waiting} />, isNumeric: true },
  {
    title: 'Wait, 95 of 100',
    render: ({ wait_p95_seconds: seconds }: AdviceOption) => <Duration milliseconds={seconds * SECOND_MS} />,
    isNumeric: true,
  },
];

// The present settings are listed even if others are better in everything.
const optionsWith = (present: AdviceOption, options: readonly AdviceOption[]): AdviceOption[] =>
  options.some(({ scale_to_zero_after_seconds: seconds }) => seconds === present.scale_to_zero_after_seconds)
    ? [...options]
    : [present, ...options];

interface WhenToSleepProps {
  deployment: Deployment;
  onClose: () => void;
}

const Suggestion = ({ advice, deployment, onClose }: WhenToSleepProps & { advice: Advice }) => {
  const { id, version } = deployment;
  const { suggestion } = advice;
  if (!suggestion) return <p>No other time saves a dollar a month, or has much less waiting at about the same cost.</p>;
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

/** Replays the last days of a deployment with other times to sleep after, and applies the best one. */
export const WhenToSleep = ({ deployment, onClose }: WhenToSleepProps) => {
  const query = useRead('GET /v1/deployments/{id}/advice', { parameters: { id: deployment.id }, query: { days: DAYS } });
  return (
    <Dialog title={`When ${deployment.name} should sleep`} onClose={onClose}>
      <Loaded query={query}>
        {(advice) =>
          advice.present === null ? (
            <p>It has not yet had a whole UTC day. Come back tomorrow.</p>
          ) : (
            <>
              <p>
                What the last {(advice.to - advice.from) / DAY_SECONDS} whole UTC days would have been like, with {advice.requests}{' '}
                requests. Those that were told to come back count as if they had waited.
              </p>
              <Table
                label="Times to sleep after"
                columns={columns(advice.present)}
                rows={optionsWith(advice.present, advice.options)}
                keyOf={nameOf}
              />
              <Suggestion advice={advice} deployment={deployment} onClose={onClose} />
            </>
          )
        }
      </Loaded>
    </Dialog>
  );
};
