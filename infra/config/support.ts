import * as z from 'zod';
import { SupportPromise } from '../../shared/tickets/clocks.ts';
import { FREE, setting, settings } from './setting.ts';

/** How the platform's support works. */
export const Support = settings(
  { description: "How the platform's support works.", guide: 'options.md#set-up-support' },
  z
    .strictObject({
      promise: setting(
        {
          description:
            'How fast support promises to answer (`firstResponseMinutes`) and to resolve (`resolutionMinutes`), by severity, and when it works: `hours` has `timeZone`, `days` (1 is Monday), `from`, `to` and up to 40 `holidays`. The clocks of the severities in `aroundTheClock` never stand still.',
          cost: FREE,
          example: {
            support: {
              promise: {
                hours: { timeZone: 'Europe/Berlin', days: [1, 2, 3, 4, 5], from: '09:00', to: '17:00', holidays: ['2026-12-25'] },
                firstResponseMinutes: { low: 960, normal: 480, high: 240, urgent: 60 },
                resolutionMinutes: { low: 4_800, normal: 2_400, high: 960, urgent: 480 },
                aroundTheClock: ['urgent'],
              },
            },
          },
          defaultText: 'the minutes of the example, around the clock',
        },
        SupportPromise.prefault({}),
      ),
      email: setting(
        {
          description:
            'The address that gets an email about each new ticket and each message from a customer, if `notifications.emailFrom` is set.',
          cost: 'What SES charges for each email.',
          example: { support: { email: 'support@example.com' } },
          defaultText: 'none',
        },
        z.email().max(254).optional(),
      ),
      replyTo: setting(
        {
          description: "The address for replies to emails about tickets. The ticket's id is added to it: `support+tkt_…@example.com`.",
          cost: FREE,
          example: { support: { replyTo: 'support@example.com' } },
          defaultText: 'the sender',
        },
        z.email().max(200).optional(),
      ),
      events: setting(
        {
          description: "Puts `sluice.ticket.*` events on EventBridge's default bus, for a bridge to another system.",
          cost: 'What EventBridge charges for each event.',
          example: { support: { events: true } },
        },
        z.boolean().default(false),
      ),
      retentionDays: setting(
        {
          description: 'How many days a closed ticket is kept, with its messages and files.',
          cost: 'The storage of tickets and files.',
          example: { support: { retentionDays: 365 } },
        },
        z.int().min(31).max(3_650).default(730),
      ),
    })
    .prefault({}),
);
