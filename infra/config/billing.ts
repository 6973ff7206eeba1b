import * as z from 'zod';
import { FUNCTION, SECRET } from './arns.ts';
import { EXPECTED_NETWORK, isPrivateNetwork } from './private-network.ts';
import { FREE, setting, settings } from './setting.ts';

const GUIDE = 'options.md#set-up-billing-and-notifications';

export const Billing = settings(
  { description: 'What invoices and the export of usage need in addition to what admins set in the control plane.', guide: GUIDE },
  z
    .strictObject({
      taxFunctionArn: setting(
        {
          description:
            'A Lambda function that computes the taxes of each invoice. If it is in another account, it must allow the account of Sluice to invoke it.',
          cost: 'The runs of your function.',
          example: { billing: { taxFunctionArn: 'arn:aws:lambda:eu-west-1:123456789012:function:taxes' } },
          defaultText: 'none: invoices have no tax lines',
        },
        z.string().regex(FUNCTION, 'expected the ARN of a Lambda function').optional(),
      ),
      stripeSecretArn: setting(
        {
          description:
            'The full ARN, with its six random characters, of the secret in Secrets Manager with the API key of a Stripe account. The usage of organizations with a Stripe customer is exported to this account every hour.',
          cost: "A secret: $0.40 a month. Stripe's own fees.",
          example: { billing: { stripeSecretArn: 'arn:aws:secretsmanager:eu-west-1:123456789012:secret:stripe-AbC123' } },
          defaultText: 'none: nothing is exported',
          guide: 'options.md#export-usage-to-stripe',
        },
        z.string().regex(SECRET, 'expected the full ARN of a secret, with its six random characters').optional(),
      ),
    })
    .prefault({}),
);

export const Notifications = settings(
  { description: 'How organizations are notified.', guide: GUIDE },
  z
    .strictObject({
      emailFrom: setting(
        {
          description:
            'The address from which SES sends email about invoices, budgets, credit and tickets, in lower case. SES must have verified it, or its domain.',
          cost: 'What SES charges for each email.',
          example: { notifications: { emailFrom: 'billing@example.com' } },
          defaultText: 'none: no email is sent',
        },
        z
          .email()
          .max(254)
          .refine((address) => address === address.toLowerCase(), 'expected lower-case letters')
          .optional(),
      ),
      allowedNetworks: setting(
        {
          description:
            'Private networks to which webhooks can be delivered. Any owner of an organization can make the function connect to them.',
          cost: FREE,
          example: { notifications: { allowedNetworks: ['10.1.0.0/16'] } },
          defaultText: '`[]`: public addresses only',
        },
        z
          .array(z.union([z.cidrv4(), z.cidrv6()], 'expected a network such as 10.1.0.0/16').refine(isPrivateNetwork, EXPECTED_NETWORK))
          .max(20)
          .default([]),
      ),
    })
    .prefault({}),
);

export const BillBudget = settings(
  {
    description:
      "Sends email to `alarmEmail`, which must be set, about the bill of the whole AWS account, not only of Sluice. CloudFormation can't create budgets in every region.",
    guide: 'options.md#watch-the-aws-bill',
  },
  z
    .strictObject({
      monthlyUsd: setting(
        {
          description:
            "The limit of the account's monthly bill, in dollars. An email is sent when the bill exceeds 80% of it, and when AWS forecasts that it will exceed the limit.",
          cost: FREE,
          example: { alarmEmail: 'ops@example.com', billBudget: { monthlyUsd: 500 } },
          defaultText: 'no budget',
        },
        z.int().min(1).max(100_000_000),
      ),
    })
    .optional(),
);
