import { useState } from 'react';
import { readAgain } from '../../client/queries.ts';
import { request, requestTrial } from '../../client/request.ts';
import type { TrialBody } from '../../client/routes.ts';
import { CheckField, TextField } from '../../design/controls/fields.tsx';
import { Count, Money } from '../../design/data/values.tsx';
import { Notice } from '../../design/feedback/failure.tsx';
import { ownCurrency } from '../../design/format/currency.ts';
import { formatDuration } from '../../design/format/times.ts';
import { Form } from '../../design/forms/form.tsx';
import { Facts, ShortFields } from '../../design/layout/layout.tsx';
import type { Deployment } from '../deployments/deployment-state.ts';
import {
  type BenchmarkDraft,
  benchmarkFaults,
  benchmarkOf,
  boughtMs,
  canStart,
  FIRST_BENCHMARK,
  isTooLittle,
  meanLengths,
} from './benchmark-draft.ts';

type Estimate = TrialBody<'POST /v1/deployments/{id}/benchmark'>;

const Preview = ({ estimate, budget }: { estimate: NonNullable<Estimate>; budget: string }) => {
  const { price_per_hour, least_budget, most_cost, mix, mix_source } = estimate;
  const bought = boughtMs(budget, price_per_hour);
  const { prompt, completion } = meanLengths(mix);
  return (
    <>
      <Facts
        facts={[
          ['Price per hour', <Money key="hour" amount={price_per_hour} />],
          [
            'Your budget',
            <span key="budget">
              <Money amount={budget} />
              {bought !== undefined && `, which buys ${formatDuration(bought)} of GPU time`}
            </span>,
          ],
          ['Minimum budget', <Money key="least" amount={least_budget} />],
          ['Cost of the maximum, 90 minutes', <Money key="most" amount={most_cost} />],
          [
            'Requests',
            <span key="mix">
              <Count value={prompt} /> prompt tokens and <Count value={completion} /> completion tokens on average,{' '}
              {mix_source === 'own' ? 'as in your own requests of the last 7 days' : 'as you entered them'}
            </span>,
          ],
        ]}
      />
      {isTooLittle(budget, least_budget) && (
        <Notice tone="warn">
          The budget is below the minimum, which pays for one level of concurrency. Choose Cancel, then enter a higher budget.
        </Notice>
      )}
    </>
  );
};

interface StartProps {
  deployment: Deployment;
  onClose: () => void;
}

/** Starts a benchmark, after it has shown what it costs. */
export const StartBenchmark = ({ deployment: { id, price_per_hour }, onClose }: StartProps) => {
  const [draft, setDraft] = useState(FIRST_BENCHMARK);
  const [estimate, setEstimate] = useState<Estimate>();
  const faults = benchmarkFaults(draft);
  const body = benchmarkOf(draft);
  if (estimate)
    return (
      <Form
        submitLabel="Start benchmark"
        canSubmit={!isTooLittle(body.budget, estimate.least_budget)}
        onCancel={() => setEstimate(undefined)}
        onSubmit={async () => {
          await request('POST /v1/deployments/{id}/benchmark', { parameters: { id }, body });
          await readAgain('/v1/deployments');
        }}
      >
        <Preview estimate={estimate} budget={body.budget} />
      </Form>
    );
  const set =
    <Name extends keyof BenchmarkDraft>(name: Name) =>
    (value: BenchmarkDraft[Name]) =>
      setDraft({ ...draft, [name]: value });
  const field = (name: Exclude<keyof BenchmarkDraft, 'applies'>, label: string, more: { hint?: string; inputMode?: 'decimal' } = {}) => (
    <TextField label={label} value={draft[name]} onChange={set(name)} fault={faults[name]} inputMode="numeric" {...more} />
  );
  return (
    <Form
      submitLabel="Estimate cost"
      canSubmit={canStart(draft)}
      onCancel={onClose}
      onSubmit={async () => {
        setEstimate(await requestTrial('POST /v1/deployments/{id}/benchmark', { parameters: { id }, body }));
      }}
    >
      <p>
        The benchmark sends more and more concurrent requests, for up to 90 minutes of GPU time at <Money amount={price_per_hour} /> per
        hour. Other requests are slower while it runs.
      </p>
      <ShortFields>
        {field('budget', `Budget (${ownCurrency().code})`, { inputMode: 'decimal', hint: 'The benchmark never exceeds it.' })}
        {field('firstTokenMs', 'Time to first token goal (ms)')}
        {field('betweenTokensMs', 'Between tokens goal (ms)')}
      </ShortFields>
      <ShortFields>
        {field('promptTokens', 'Prompt tokens', { hint: 'Leave empty to use your requests of the last 7 days.' })}
        {field('completionTokens', 'Completion tokens')}
      </ShortFields>
      <CheckField
        label="Apply the result to the deployment's setting"
        hint="Not applied if someone changes the settings in the meantime."
        checked={draft.applies}
        onChange={set('applies')}
      />
    </Form>
  );
};
