import type { ReplyBody } from '../../client/routes.ts';
import { Spans } from '../../design/data/spans.tsx';
import { Notice } from '../../design/feedback/failure.tsx';
import { PHASE_NAMES } from './phase-names.ts';

type Detail = ReplyBody<'GET /v1/observability/requests/{id}'>;

/** The phases of a request as bars. */
export const RequestTimeline = ({ request: { phases, duration_ms } }: { request: Pick<Detail, 'phases' | 'duration_ms'> }) =>
  phases.length === 0 ? (
    <Notice>The phases of this request are unknown because its function crashed.</Notice>
  ) : (
    <Spans
      label="Phases"
      totalMs={duration_ms}
      spans={phases.map(({ name, from_ms, to_ms }) => ({ name: PHASE_NAMES[name], fromMs: from_ms, toMs: to_ms }))}
    />
  );
