import type { CallOptions, ReplyBody, RouteName } from '../../client/routes.ts';
import { faultOfCredit } from '../organization/credit-amount.ts';
import { areSameLimits, faultsOfLimits, type LimitsDraft, limitsOf, NO_LIMITS, type Organization } from '../organization/limits-draft.ts';

/** The fields of the form of a new organization. Empty texts: the step is left out. */
export type OnboardingDraft = LimitsDraft & {
  name: string;
  /** Dollars; only of an organization that pays from credit. */
  credit: string;
  email: string;
  /** Empty: one is emailed. */
  temporaryPassword: string;
  keyName: string;
};

export const EMPTY_ONBOARDING: OnboardingDraft = { ...NO_LIMITS, name: '', credit: '', email: '', temporaryPassword: '', keyName: '' };

export type StepName = 'organization' | 'limits' | 'credit' | 'owner' | 'api_key';

/** The results of the steps so far. */
export interface Onboarded {
  organization?: Organization;
  limits?: Organization;
  credit?: ReplyBody<'POST /v1/organizations/{id}/credit-grants'>;
  owner?: ReplyBody<'GET /v1/users/{id}'>;
  api_key?: ReplyBody<'POST /v1/api-keys'>;
}

/** The steps that a draft needs, in their order. */
export const stepsOf = (draft: OnboardingDraft): readonly StepName[] => [
  'organization',
  ...(areSameLimits(draft, NO_LIMITS) ? [] : (['limits'] as const)),
  ...(draft.prepaid && draft.credit !== '' ? (['credit'] as const) : []),
  'owner',
  ...(draft.keyName.trim() === '' ? [] : (['api_key'] as const)),
];

// The first grant can't take credit back.
const faultOfStart = (credit: string): string | undefined =>
  credit.startsWith('-') ? 'Enter an amount, such as 100.' : faultOfCredit(credit);

/** Why fields can't be sent. */
export const faultsOfOnboarding = (draft: OnboardingDraft): Partial<Record<keyof OnboardingDraft, string>> => {
  const creditFault = faultOfStart(draft.credit);
  return {
    ...faultsOfLimits(draft),
    ...(draft.prepaid && creditFault && { credit: creditFault }),
    ...(draft.email !== '' && !/^[^@\s]+@[^@\s]+$/.test(draft.email.trim()) && { email: 'Enter an email address.' }),
  };
};

/** True for a draft that can be sent. */
export const isReady = (draft: OnboardingDraft): boolean =>
  draft.name.trim() !== '' && draft.email.trim() !== '' && Object.keys(faultsOfOnboarding(draft)).length === 0;

type Call = <Name extends RouteName>(name: Name, options: CallOptions<Name>) => Promise<ReplyBody<Name>>;

// A request without a reply, or one that the service could not complete, may have been carried out.
const isUncertain = (failure: unknown): boolean => {
  const { status } = failure as { status?: number };
  return status === undefined || status === 0 || status >= 500;
};

/**
 * The steps of onboarding an organization. A step that is done is never taken again. If the reply to a step is lost,
 * its repetition first looks for what the lost request may have made.
 * @param call sends a request
 * @param idempotencyKey of the credit grant
 */
export const createOnboarding = (call: Call, idempotencyKey: string) => {
  const made: Onboarded = {};
  const uncertain = new Set<StepName>();
  let namesakes: ReadonlySet<string> | undefined;

  const named = async (name: string): Promise<Organization[]> =>
    (await call('GET /v1/organizations', { query: { q: name } })).data.filter((each) => each.name === name);

  const id = (): string => made.organization?.id ?? '';

  const findLost = {
    organization: async ({ name }: OnboardingDraft) => (await named(name.trim())).find((each) => !namesakes?.has(each.id)),
    // Repeating these changes nothing.
    limits: async () => undefined,
    credit: async () => undefined,
    owner: async ({ email }: OnboardingDraft) => {
      const address = email.trim().toLowerCase();
      const { data } = await call('GET /v1/users', { query: { organization: id(), q: address } });
      return data.find((each) => each.email.toLowerCase() === address);
    },
    api_key: async ({ keyName }: OnboardingDraft) => {
      const { data } = await call('GET /v1/api-keys', { query: { organization: id(), q: keyName.trim(), status: 'active' } });
      const lost = data.find(({ name }) => name === keyName.trim());
      // Its secret was in the lost reply, so it gets another one.
      return (
        lost && call('POST /v1/api-keys/{id}/rotate', { parameters: { id: lost.id }, body: { overlap_seconds: 0 }, version: lost.version })
      );
    },
  };

  const take = {
    organization: async ({ name }: OnboardingDraft) => {
      namesakes = new Set((await named(name.trim())).map((each) => each.id));
      return call('POST /v1/organizations', { body: { name: name.trim() } });
    },
    limits: (draft: OnboardingDraft) => call('PUT /v1/organizations/{id}/limits', { parameters: { id: id() }, body: limitsOf(draft) }),
    credit: ({ credit }: OnboardingDraft) =>
      call('POST /v1/organizations/{id}/credit-grants', {
        parameters: { id: id() },
        body: { amount: credit, reason: 'Granted at the start.' },
        idempotencyKey,
      }),
    owner: ({ email, temporaryPassword }: OnboardingDraft) =>
      call('POST /v1/users', {
        body: {
          email: email.trim(),
          role: 'owner',
          organization: id(),
          ...(temporaryPassword !== '' && { temporary_password: temporaryPassword }),
        },
      }),
    api_key: ({ keyName }: OnboardingDraft) => call('POST /v1/api-keys', { body: { name: keyName.trim(), organization: id() } }),
  };

  return {
    made: (): Onboarded => ({ ...made }),
    /** Steps whose fields must stay as they are, because they are done or may be. */
    fixed: (): ReadonlySet<StepName> => new Set([...(Object.keys(made) as StepName[]), ...uncertain]),
    /**
     * Takes all steps that are not done. @param onStep called when one is done
     * @throws ApiFailure of the step that failed
     */
    run: async (draft: OnboardingDraft, onStep: () => void): Promise<void> => {
      for (const step of stepsOf(draft)) {
        if (made[step]) continue;
        try {
          const lost = uncertain.has(step) ? await findLost[step](draft) : undefined;
          Object.assign(made, { [step]: lost ?? (await take[step](draft)) });
          uncertain.delete(step);
        } catch (failure) {
          if (isUncertain(failure)) uncertain.add(step);
          throw failure;
        }
        onStep();
      }
    },
  };
};
