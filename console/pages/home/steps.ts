import type { Summary } from './attention.ts';

interface Step {
  title: string;
  note: string;
  isDone: boolean;
  /** Where the step is taken. */
  to: string;
  /** The words that lead there. */
  action: string;
}

type Rule = readonly [isDone: boolean | undefined, step: Omit<Step, 'isDone'>];

const ofPlatform = ({ has_model, has_organization, has_owner, has_invoice }: NonNullable<Summary['onboarding']>): Rule[] => [
  [
    has_model,
    {
      title: 'Register a model',
      note: 'Callers send its name in their requests and pay its prices.',
      to: '/models',
      action: 'View models',
    },
  ],
  [
    has_organization,
    {
      title: 'Create an organization',
      note: 'A customer or team with its own users, API keys and invoices.',
      to: '/organizations?dialog=onboard',
      action: 'Create organization',
    },
  ],
  [
    has_owner,
    {
      title: 'Invite its owner',
      note: "Owners invite colleagues and see the organization's usage and costs.",
      to: '/users',
      action: 'Invite user',
    },
  ],
  [
    has_invoice,
    {
      title: 'Issue an invoice',
      note: 'At the end of each month, every organization with usage gets a draft. Set the seller, review the draft and issue it.',
      to: '/invoices',
      action: 'View invoices',
    },
  ],
];

/** The steps of a first run in their order; none if all are done, or if the user takes none. */
export const stepsOf = ({ onboarding }: Summary): readonly Step[] => {
  if (!onboarding) return [];
  const [model, organization, owner, invoice] = ofPlatform(onboarding) as [Rule, Rule, Rule, Rule];
  const rules: readonly Rule[] = [
    model,
    organization,
    owner,
    [
      onboarding.has_key,
      {
        title: 'Create an API key',
        note: 'Applications authenticate with it. Its limits and budget cap what they can spend.',
        to: owner[0] === undefined ? '/api-keys?dialog=create' : '/api-keys',
        action: 'Create API key',
      },
    ],
    [
      onboarding.has_request,
      {
        title: 'Send a request',
        note: 'A new key comes with a command to paste into a terminal.',
        to: '/api-keys',
        action: 'View API keys',
      },
    ],
    invoice,
  ];
  const steps = rules.flatMap(([isDone, step]) => (isDone === undefined ? [] : [{ ...step, isDone }]));
  return steps.every(({ isDone }) => isDone) ? [] : steps;
};
