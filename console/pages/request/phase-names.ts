import type { ReplyBody } from '../../client/routes.ts';

type PhaseName = ReplyBody<'GET /v1/observability/requests/{id}'>['phases'][number]['name'];

/** The phases of a request as people read them. */
export const PHASE_NAMES: Readonly<Record<PhaseName, string>> = {
  parse: 'Validate the request',
  admit: 'Check limits',
  fit: 'Fit the prompt',
  wait: 'Wait for a target',
  invoke: 'Call the model',
  first_token: 'First token',
  generate: 'Generate',
  settle: 'Record usage',
};
