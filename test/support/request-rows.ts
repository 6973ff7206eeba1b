import { newRequestId } from '../../shared/ids/request-id.ts';
import type { RequestRow } from '../../shared/observability/request-row.ts';
import { newId } from './new-id.ts';

/** The row of a completed request that arrived at `atMs`. */
export const requestRow = ({
  atMs,
  organization = newId('organization'),
  ...facts
}: { atMs: number; organization?: string } & Partial<RequestRow>): RequestRow => ({
  request_id: newRequestId(atMs),
  org_id: organization,
  key_id: 'key_0123456789abcdefgh',
  model: 'small',
  route: '/v1/chat/completions',
  outcome: 'completed',
  status: 200,
  prompt_tokens: 10,
  cached_tokens: 3,
  completion_tokens: 20,
  cost_nanos: 7_000n,
  time_to_first_token_ms: 150,
  duration_ms: 1_200,
  ...facts,
});
