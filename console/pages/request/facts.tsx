import type { ReplyBody } from '../../client/routes.ts';
import { CopyText } from '../../design/controls/copy.tsx';
import { IdLink } from '../../design/controls/id-link.tsx';
import { Count, Duration, Time } from '../../design/data/values.tsx';
import { counted } from '../../design/format/amounts.ts';
import { formatUtc } from '../../design/format/times.ts';
import { Facts, Section } from '../../design/layout/layout.tsx';

type Detail = ReplyBody<'GET /v1/observability/requests/{id}'>;

const targetText = ({ endpoint, component, tries }: NonNullable<Detail['target']>): string =>
  [endpoint, component, tries > 1 ? `after ${counted(tries - 1, 'other target', 'other targets')}` : null].filter(Boolean).join(', ');

const modelText = (model: string, fallback: number | null): string => (fallback === null ? model : `${model}, as fallback ${fallback}`);

const attemptText = ({ model, code, ms }: Detail['attempts'][number]): string => `${model} (${code}, after ${ms} ms)`;

const limitsText = ({ in_flight, concurrency, requests_left, tokens_left }: NonNullable<Detail['limiter']>): string =>
  [
    `${in_flight}${concurrency === undefined ? '' : ` of ${concurrency}`} in flight`,
    requests_left !== undefined && `${counted(requests_left, 'request', 'requests')} left this minute`,
    tokens_left !== undefined && `${counted(tokens_left, 'token', 'tokens')} left this minute`,
  ]
    .filter(Boolean)
    .join(', ');

/** The sender of a request, its model, and the target that served it. */
export const RequestFacts = ({ request }: { request: Detail }) => (
  <Section title="Request" isCard>
    <Facts
      facts={[
        ['Id', <CopyText key="id" text={request.id} />],
        [
          'Arrived',
          <span key="arrived">
            <Time seconds={request.created_at} />, {formatUtc(request.created_at)}
          </span>,
        ],
        ['Model', request.model ? modelText(request.model, request.fallback) : 'not known'],
        ['Failed attempts', request.attempts.length > 0 ? request.attempts.map(attemptText).join('; ') : undefined],
        ['Route', request.route ? `${request.route}${request.stream ? ', streamed' : ''}` : 'not known'],
        ['API key', <IdLink key="key" id={request.api_key_id} />],
        ['Project', request.project_id ? <IdLink key="project" id={request.project_id} /> : undefined],
        ['Organization', <IdLink key="organization" id={request.organization} />],
        ['Deployment', request.target?.deployment ? <IdLink key="deployment" id={request.target.deployment} /> : undefined],
        ['Target', request.target ? targetText(request.target) : undefined],
        ['Limits', request.limiter ? limitsText(request.limiter) : undefined],
        ['Finish reason', request.finish_reason ?? undefined],
        ['End user', request.user ?? undefined],
        ['X-User-Id', request.user_id ?? undefined],
        ['Ignored fields', request.ignored.length > 0 ? request.ignored.join(', ') : undefined],
        ['Trace', request.trace ? <CopyText key="trace" text={request.trace.trace_id} /> : undefined],
        ['Metadata', request.metadata ? <code key="metadata">{JSON.stringify(request.metadata)}</code> : undefined],
      ]}
    />
  </Section>
);

/** The tokens of a request, and how fast they came. */
export const RequestTokens = ({ request: { usage, time_to_first_token_ms, duration_ms } }: { request: Detail }) => (
  <Section title="Tokens" isCard>
    <Facts
      facts={[
        ['Input', <Count key="input" value={usage.input_tokens} />],
        ['Cached input', <Count key="cached" value={usage.cached_tokens} />],
        ['Output', <Count key="output" value={usage.output_tokens} />],
        ['Counted by', usage.source === 'runtime' ? "the model's runtime" : 'Sluice'],
        ['Time to first token', <Duration key="first" milliseconds={time_to_first_token_ms} />],
        ['Duration', <Duration key="complete" milliseconds={duration_ms} />],
      ]}
    />
  </Section>
);
