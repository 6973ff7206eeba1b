import * as z from 'zod';
import type { Deployment } from '../../../../shared/deployments/deployment.ts';
import { openShadow, type Shadow, ShadowEnd } from '../../../../shared/deployments/shadow.ts';

/** A deployment's last comparison, as the deployment shows it. */
export const ShadowState = z.object({
  number: z.int().meta({ description: "Of the deployment's comparisons." }),
  generation: z.int().meta({ description: 'The new generation.' }),
  status: z.enum(['waiting', 'running', 'ended']).meta({ description: '`waiting`: the new generation is not ready yet.' }),
  end_reason: ShadowEnd.nullable().meta({ description: 'Null: it has not ended.' }),
  percent: z.int(),
  max_requests: z.int(),
  max_tokens: z.int(),
  max_seconds: z.int(),
});

export type ShadowState = z.infer<typeof ShadowState>;

export const statusOf = ({ started_at, ended_at }: Shadow): ShadowState['status'] => {
  if (ended_at !== undefined) return 'ended';
  return started_at === undefined ? 'waiting' : 'running';
};

/** @returns null if it never had one */
export const shadowStateOf = ({ shadows = [] }: Deployment): ShadowState | null => {
  const last = shadows.at(-1);
  if (!last) return null;
  const { number, generation, percent, max_requests, max_tokens, max_seconds, end_reason = null } = last;
  return { number, generation, percent, max_requests, max_tokens, max_seconds, status: statusOf(last), end_reason };
};

/** The settings of an open comparison, as the audit log shows them; null: there is none. */
export const auditedShadow = (deployment: Deployment): Record<string, number> | null => {
  const open = openShadow(deployment);
  if (!open) return null;
  const { number, generation, percent, max_requests, max_tokens, max_seconds } = open;
  return { number, generation, percent, max_requests, max_tokens, max_seconds };
};
