import { Money } from '../../design/data/values.tsx';
import { Notice } from '../../design/feedback/failure.tsx';
import { Form } from '../../design/forms/form.tsx';
import { Facts, Section, Stack } from '../../design/layout/layout.tsx';
import { roughly } from '../deployments/deployment-state.ts';
import { hourCostOf, type InstanceType } from '../deployments/hour-cost.ts';
import { fieldOf, isCount, type NewDeployment, type NewDraft } from './deployment-draft.ts';
import type { Estimate, Judged } from './use-estimate.ts';

interface ReviewProps {
  draft: NewDraft;
  body: NewDeployment | undefined;
  types: readonly InstanceType[];
  judged: Judged;
  isCurrent: boolean;
  /** Warnings that are about no field. */
  warnings: readonly string[];
  onCreate: (attempt: { idempotencyKey: string }) => Promise<unknown>;
}

const startText = ({ p50_seconds, p90_seconds }: Estimate['start']): string =>
  `about ${roughly(p50_seconds)}; 90% of starts within ${roughly(p90_seconds)}`;

const MINUTES_AN_HOUR = 60;

const SchedulePrice = ({ minutes_per_week, price_per_month }: NonNullable<Estimate['schedule']>) => (
  <span>
    at least <Money amount={Number(price_per_month).toFixed(2)} /> per month, for{' '}
    {Math.round((minutes_per_week / MINUTES_AN_HOUR) * 10) / 10} hours per week
  </span>
);

const HourCost = ({ draft, types }: Pick<ReviewProps, 'draft' | 'types'>) => {
  const type = types.find(({ id }) => id === draft.instanceTypes[0]);
  const ofCopy = Number(draft.accelerators);
  const costOf = (copies: string) => (isCount(copies) ? hourCostOf(type, ofCopy, Number(copies)) : undefined);
  const [least, most] = [costOf(draft.minCopies), costOf(draft.maxCopies || draft.minCopies)];
  return (
    <Facts
      facts={[
        [
          'Awake',
          least === undefined ? (
            '–'
          ) : (
            <span key="awake">
              <Money amount={least} />
              {most !== undefined && most !== least && (
                <>
                  {' '}
                  to <Money amount={most} />
                </>
              )}{' '}
              per hour
            </span>
          ),
        ],
        ['Asleep', draft.idle === '' ? 'never sleeps' : <Money key="asleep" amount="0" />],
        ['Instance types', draft.instanceTypes.join(', ') || '–'],
      ]}
    />
  );
};

const Verdict = ({ draft, judged: { estimate, failure }, isCurrent }: Pick<ReviewProps, 'draft' | 'judged' | 'isCurrent'>) => {
  if (draft.model.trim() === '') return <p role="status">Enter the location of the model files.</p>;
  if (!isCurrent) return <p role="status">Checking…</p>;
  if (estimate) return <Notice tone="good">Ready to deploy: the files were found and the settings are valid.</Notice>;
  if (failure && fieldOf(failure) !== undefined) return <p role="status">Correct the marked fields in the steps.</p>;
  return <Notice tone="warn">{failure?.message}</Notice>;
};

/** The last step: what it costs, if it can run, and its creation. */
export const Review = ({ draft, body, types, judged, isCurrent, warnings, onCreate }: ReviewProps) => (
  <Section title="Review" isCard>
    <Form submitLabel="Create deployment" canSubmit={body !== undefined && draft.model.trim() !== ''} onSubmit={onCreate}>
      <Stack>
        <HourCost draft={draft} types={types} />
        {judged.estimate && (
          <Facts
            facts={[
              ['First start', startText(judged.estimate.start)],
              ['Windows', judged.estimate.schedule ? <SchedulePrice key="windows" {...judged.estimate.schedule} /> : undefined],
            ]}
          />
        )}
        <Verdict draft={draft} judged={judged} isCurrent={isCurrent} />
        {warnings.map((warning) => (
          <Notice key={warning} tone="warn">
            {warning}
          </Notice>
        ))}
      </Stack>
    </Form>
  </Section>
);
