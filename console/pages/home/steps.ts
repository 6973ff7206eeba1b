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
    { title: 'Register a model', note: 'Callers choose a model by its name, and pay its prices.', to: '/models', action: 'See models' },
  ],
  [
    has_organization,
    {
      title: 'Create an organization',
      note: 'A customer or a team. It has users, API keys and bills of its own.',
      to: '/organizations?dialog=onboard',
      action: 'Create organization',
    },
  ],
  [
    has_owner,
    {
      title: 'Invite its owner',
      note: 'Owners invite their colleagues, and see what the organization uses and costs.',
      to: '/users',
      action: 'Invite user',
    },
  ],
  [
    has_invoice,
    {
      title: 'Issue an invoice',
      note: 'When a month is over, each organization that used something has a draft. Say who sells, check it, and issue it.',
      to: '/invoices',
      action: 'See invoices',
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
        note: 'Programs send requests with it. Its limits and budget bound what they can cost.',
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
        action: 'See API keys',
      },
    ],
    invoice,
  ];
  const steps = rules.flatMap(([isDone, step]) => (isDone === undefined ? [] : [{ ...step, isDone }]));
  return steps.every(({ isDone }) => isDone) ? [] : steps;
};
