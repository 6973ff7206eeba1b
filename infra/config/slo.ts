import * as z from 'zod';
import { FREE, setting, settings } from './setting.ts';

/** The promises of the inference hosts. */
export const Slo = settings(
  {
    description:
      'What the inference hosts promise. Alarms go off when misses use up the error budget too fast ([decision 0053](decisions/0053-service-level-objectives-are-measured-from-log-lines.md)).',
    guide: 'runbook.md#the-dashboard',
  },
  z
    .strictObject({
      availability: setting(
        {
          description: 'The percentage of valid requests that are answered.',
          cost: FREE,
          example: { slo: { availability: 99.5 } },
        },
        z.number().min(95).max(99.99).default(99.9),
      ),
      firstTokenMs: setting(
        {
          description: "The number of milliseconds after a request's arrival within which its first token is in time.",
          cost: FREE,
          example: { slo: { firstTokenMs: 8_000 } },
        },
        z.int().min(100).max(280_000).default(5_000),
      ),
      firstTokenShare: setting(
        {
          description: 'The percentage of answers whose first token is in time.',
          cost: FREE,
          example: { slo: { firstTokenShare: 95 } },
        },
        z.number().min(95).max(99.99).default(99),
      ),
      minimumMisses: setting(
        {
          description:
            "With fewer misses than this in the last six hours, the alarms of objectives don't go off: a single failure on a host with little traffic says nothing.",
          cost: FREE,
          example: { slo: { minimumMisses: 20 } },
        },
        z.int().min(1).max(100_000).default(10),
      ),
    })
    .prefault({}),
);
