import type { ReplyBody } from '../../client/routes.ts';
import { ScreenLink } from '../../design/controls/screen-link.tsx';
import { Chip, Money, Time } from '../../design/data/values.tsx';
import { formatCount, perMillion } from '../../design/format/amounts.ts';
import { formatUtc } from '../../design/format/times.ts';
import { Facts, Section } from '../../design/layout/layout.tsx';

import { taskFacts } from './task-facts.tsx';

export type Model = ReplyBody<'GET /v1/models/{model+}'>;
type Next = ReplyBody<'GET /v1/pricing/serverless'>['pricing'][number]['next'];

const FEATURES: Readonly<Record<string, string>> = {
  tools: 'tools',
  json_object: 'JSON objects',
  logprobs: 'log probabilities',
  thinking_budget: 'thinking budget',
  structured_outputs: 'structured outputs',
};

const ofText = <Fact,>({ task }: Model, fact: Fact): Fact | undefined => (task === 'generate' ? fact : undefined);

const featuresOf = ({ capabilities }: Model): string =>
  Object.entries(capabilities)
    .filter(([, isThere]) => isThere)
    .map(([name]) => FEATURES[name] ?? name)
    .join(', ') || 'plain chat';

/** The current price of a model, and the next one if it is known. */
export const ModelPrice = ({ model, model: { pricing }, next }: { model: Model; next: Next | undefined }) => (
  <Section title="Price per million tokens" isCard>
    {pricing === null ? (
      <p>No price is in effect yet, so the model can't be called.</p>
    ) : (
      <Facts
        facts={[
          ['Input', <Money key="input" amount={perMillion(pricing.prompt)} />],
          ['Cached input', <Money key="cached" amount={perMillion(pricing.cached_prompt)} />],
          ['Output', ofText(model, <Money key="output" amount={perMillion(pricing.completion)} />)],
          [
            'Next price',
            next ? (
              <span key="next">
                <Money amount={next.per_million.prompt} /> input, <Money amount={next.per_million.completion} /> output, from{' '}
                {formatUtc(next.effective_at)}
              </span>
            ) : undefined,
          ],
        ]}
      />
    )}
  </Section>
);

const tokens = (count: number | null): string => (count === null ? '–' : `${formatCount(count)} tokens`);

/** The features of a model, and its limits. */
export const ModelLimits = ({ model }: { model: Model }) => (
  <Section title="Limits and features" isCard>
    <Facts
      facts={[
        ...taskFacts(model),
        ['Context', tokens(model.context_length)],
        ['Max output', ofText(model, tokens(model.max_output_tokens))],
        ['Default max_tokens', ofText(model, tokens(model.default_output_tokens))],
        ['Features', ofText(model, featuresOf(model))],
        ['Fallbacks', model.fallbacks.length > 0 ? model.fallbacks.join(', ') : undefined],
        ['Prompt tokens counted', model.tokenizer ? 'before the request is admitted' : "by the model's runtime only"],
        [
          'Kind',
          model.organization === null ? (
            <Chip key="kind" state="shared model" />
          ) : (
            <ScreenLink key="kind" to="/deployments">
              deployment
            </ScreenLink>
          ),
        ],
        ['Registered', <Time key="created" seconds={model.created} />],
      ]}
    />
  </Section>
);
