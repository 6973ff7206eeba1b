import type { Permission } from '../../../shared/hosts/permissions.ts';
import { logError, logInfo } from '../../../shared/logging/log.ts';
import { unixSeconds } from '../../../shared/time/units.ts';
import { type Actor, can, isOfPlatform, seesOnlyOwn } from '../access/actor.ts';
import { apiKeysSection } from './api-keys-section.ts';
import { TooManyRows } from './bounded-rows.ts';
import { costsSection } from './costs-section.ts';
import { deploymentsSection, platformDeployments } from './deployments-section.ts';
import { invoicesSection, platformInvoices } from './invoices-section.ts';
import { budgetSection, creditSection } from './money-sections.ts';
import { onboardingSection, platformOnboarding } from './onboarding-sections.ts';
import { organizationsSection } from './organizations-section.ts';
import { requestsSection } from './requests-section.ts';
import { type OrganizationReads, type PlatformReads, platformReadsOf, readsOf, type SummaryDependencies } from './summary-reads.ts';
import type { Sections, Summary } from './summary-resource.ts';
import { ticketsSection } from './tickets-section.ts';
import { webhooksSection } from './webhooks-section.ts';

type SectionName = keyof Sections;
type ReadSections<Context> = { [Name in SectionName]?: (context: Context) => Promise<NonNullable<Sections[Name]>> };

// A section is shown to those who can read what it sums up with its own routes.
const PERMISSIONS: Readonly<Record<SectionName, Permission>> = {
  costs: 'usage:read',
  credit: 'billing:read',
  budget: 'usage:read',
  requests: 'requests:read',
  api_keys: 'keys:read',
  deployments: 'deployments:read',
  tickets: 'tickets:read',
  webhooks: 'webhooks:read',
  invoices: 'billing:read',
  organizations: 'organizations:list',
  onboarding: 'keys:write',
};

// The budget shows what all keys of the organization spend together.
const isShownTo = (actor: Actor, name: SectionName): boolean => can(actor, PERMISSIONS[name]) && !(name === 'budget' && seesOnlyOwn(actor));

const OF_ORGANIZATION: ReadSections<OrganizationReads> = {
  costs: costsSection,
  credit: creditSection,
  budget: budgetSection,
  requests: requestsSection,
  api_keys: apiKeysSection,
  deployments: deploymentsSection,
  tickets: ({ deps, actor }) => ticketsSection(deps, actor),
  webhooks: webhooksSection,
  invoices: invoicesSection,
  onboarding: onboardingSection,
};

const OF_PLATFORM: ReadSections<PlatformReads> = {
  deployments: ({ deps, actor }) => platformDeployments(deps, actor.origin.nowMs),
  invoices: ({ deps, actor }) => platformInvoices(deps, actor.origin.nowMs),
  tickets: ({ deps, actor }) => ticketsSection(deps, actor),
  organizations: organizationsSection,
  onboarding: platformOnboarding,
};

const logUnavailable = (section: string, error: unknown): void => {
  if (error instanceof TooManyRows) logInfo('summary_section_too_large', { section });
  else logError('summary_section_failed', error, { section });
};

const readSections = async <Context extends { actor: Actor }>(
  sections: ReadSections<Context>,
  context: Context,
): Promise<Pick<Summary, 'unavailable'> & Sections> => {
  const unavailable: string[] = [];
  const shown = Object.entries(sections).filter(([name]) => isShownTo(context.actor, name as SectionName));
  const read = await Promise.all(
    shown.map(async ([name, section]) => {
      try {
        return [name, await section(context)];
      } catch (error) {
        logUnavailable(name, error);
        unavailable.push(name);
        return [name, null];
      }
    }),
  );
  return { unavailable: unavailable.sort(), ...(Object.fromEntries(read) as Sections) };
};

/**
 * Sums up what the actor can see: of their organization or, for those who work for the platform, of all. A section
 * that can't be read is null, and named in `unavailable`.
 */
export const summarize = async (deps: SummaryDependencies, actor: Actor): Promise<Summary> => {
  const { organization } = actor;
  const sections =
    isOfPlatform(actor) || organization === null
      ? await readSections(OF_PLATFORM, platformReadsOf(deps, actor))
      : await readSections(OF_ORGANIZATION, readsOf(deps, actor, organization));
  return { object: 'summary', created_at: unixSeconds(actor.origin.nowMs), organization, ...sections };
};
