import type { ComponentType } from 'react';
import { can, isOfPlatform, type Me } from '../client/me.ts';
import { later } from '../design/feedback/later.tsx';

/** The headings of the navigation, in its order. */
export type ScreenGroup = 'Build' | 'Observe' | 'Finance' | 'Organization' | 'Platform' | 'You';

interface Screen {
  /** As wouter writes it, below the console's own path. */
  path: string;
  title: string;
  /** Absent: not in the navigation, because another screen leads to it. */
  group?: ScreenGroup;
  /** Its group for those who work for the platform, if it is another. */
  platformGroup?: ScreenGroup;
  /** More words that ⌘K finds it by. */
  words?: string;
  /** True for users who can do something there. */
  isFor: (me: Me) => boolean;
  /** True for users whose navigation has it. Default: all for whom it is. */
  isListedFor?: (me: Me) => boolean;
  component: ComponentType;
}

type Module = { readonly Screen: ComponentType };

const load = (read: () => Promise<Module>): ComponentType => later(async () => (await read()).Screen);

const everyone = () => true;

/** Every screen of the console. If two paths match, the first wins. */
export const SCREENS: readonly Screen[] = [
  { path: '/', title: 'Home', isFor: everyone, component: load(() => import('../pages/home/screen.tsx')) },
  {
    path: '/api-keys',
    title: 'API keys',
    group: 'Build',
    words: 'secret limits budget rotate revoke',
    isFor: (me) => can(me, 'keys:read'),
    component: load(() => import('../pages/api-keys/screen.tsx')),
  },
  {
    path: '/api-keys/:id',
    title: 'API key',
    isFor: (me) => can(me, 'keys:read'),
    component: load(() => import('../pages/api-key/screen.tsx')),
  },
  {
    path: '/projects',
    title: 'Projects',
    group: 'Organization',
    words: 'team product budget cost label',
    isFor: (me) => can(me, 'projects:read'),
    component: load(() => import('../pages/projects/screen.tsx')),
  },
  {
    path: '/projects/:id',
    title: 'Project',
    isFor: (me) => can(me, 'projects:read'),
    component: load(() => import('../pages/project/screen.tsx')),
  },
  {
    path: '/playground',
    title: 'Playground',
    group: 'Build',
    words: 'try chat compare stream prompt tokens',
    isFor: (me) => can(me, 'keys:write') && can(me, 'models:read'),
    component: load(() => import('../pages/playground/screen.tsx')),
  },
  {
    path: '/models',
    title: 'Models and prices',
    group: 'Build',
    words: 'context catalogue tokens deprecated',
    isFor: (me) => can(me, 'models:read') || can(me, 'prices:read'),
    component: load(() => import('../pages/models/screen.tsx')),
  },
  {
    path: '/models/*',
    title: 'Model',
    isFor: (me) => can(me, 'models:read'),
    component: load(() => import('../pages/model/screen.tsx')),
  },
  {
    path: '/aliases',
    title: 'Aliases',
    group: 'Build',
    words: 'names of models fallbacks never cold split canary route',
    isFor: (me) => can(me, 'models:read'),
    component: load(() => import('../pages/aliases/screen.tsx')),
  },
  {
    path: '/aliases/*',
    title: 'Alias',
    isFor: (me) => can(me, 'models:read'),
    component: load(() => import('../pages/alias/screen.tsx')),
  },
  {
    path: '/deployments',
    title: 'Deployments',
    group: 'Build',
    words: 'gpu on demand own model deploy copies stop start wake',
    isFor: (me) => can(me, 'deployments:read'),
    component: load(() => import('../pages/deployments/screen.tsx')),
  },
  {
    path: '/deployments/new',
    title: 'Deploy a model',
    isFor: (me) => can(me, 'deployments:read'),
    component: load(() => import('../pages/deploy/screen.tsx')),
  },
  {
    path: '/deployments/:id',
    title: 'Deployment',
    isFor: (me) => can(me, 'deployments:read'),
    component: load(() => import('../pages/deployment/screen.tsx')),
  },
  {
    path: '/webhooks',
    title: 'Webhooks',
    group: 'Build',
    words: 'events deliveries signature replay notify',
    isFor: (me) => can(me, 'webhooks:read'),
    component: load(() => import('../pages/webhooks/screen.tsx')),
  },
  {
    path: '/webhooks/:id',
    title: 'Webhook',
    isFor: (me) => can(me, 'webhooks:read'),
    component: load(() => import('../pages/webhook/screen.tsx')),
  },
  {
    path: '/requests',
    title: 'Requests',
    group: 'Observe',
    words: 'logs search errors latency live',
    isFor: (me) => can(me, 'requests:read'),
    component: load(() => import('../pages/requests/screen.tsx')),
  },
  {
    path: '/requests/:id',
    title: 'Request',
    isFor: (me) => can(me, 'requests:read'),
    component: load(() => import('../pages/request/screen.tsx')),
  },
  {
    path: '/tickets',
    title: 'Tickets',
    group: 'Observe',
    platformGroup: 'Platform',
    words: 'support help questions queue answer',
    isFor: (me) => can(me, 'tickets:read'),
    component: load(() => import('../pages/tickets/screen.tsx')),
  },
  {
    path: '/tickets/:id',
    title: 'Ticket',
    isFor: (me) => can(me, 'tickets:read'),
    component: load(() => import('../pages/ticket/screen.tsx')),
  },
  {
    path: '/audit-log',
    title: 'Audit log',
    group: 'Observe',
    words: 'changes who history logins',
    isFor: (me) => can(me, 'audit:read'),
    component: load(() => import('../pages/audit-log/screen.tsx')),
  },
  {
    path: '/payload-log',
    title: 'Payload log',
    group: 'Observe',
    words: 'content redaction retention prompts',
    isFor: (me) => can(me, 'payloads:read'),
    component: load(() => import('../pages/payload-log/screen.tsx')),
  },
  {
    path: '/usage',
    title: 'Usage and costs',
    group: 'Finance',
    words: 'spend tokens report chart csv',
    isFor: (me) => can(me, 'usage:read'),
    component: load(() => import('../pages/usage/screen.tsx')),
  },
  {
    path: '/economics',
    title: 'Economics',
    group: 'Finance',
    words: 'margin cost gpu utilization break-even bedrock idle',
    isFor: (me) => can(me, 'billing:read'),
    component: load(() => import('../pages/economics/screen.tsx')),
  },
  {
    path: '/billing',
    title: 'Billing',
    group: 'Finance',
    words: 'credit grants budget alerts profile address tax',
    isFor: (me) => can(me, 'billing:read'),
    component: load(() => import('../pages/billing/screen.tsx')),
  },
  {
    path: '/invoices',
    title: 'Invoices',
    group: 'Finance',
    words: 'pdf drafts issue paid overdue bills',
    isFor: (me) => can(me, 'billing:read'),
    component: load(() => import('../pages/invoices/screen.tsx')),
  },
  {
    path: '/invoices/:id',
    title: 'Invoice',
    isFor: (me) => can(me, 'billing:read'),
    component: load(() => import('../pages/invoice/screen.tsx')),
  },
  {
    path: '/service-levels',
    title: 'Service levels',
    group: 'Finance',
    words: 'sla promise availability uptime first token credit',
    isFor: (me) => can(me, 'billing:read'),
    component: load(() => import('../pages/service-levels/screen.tsx')),
  },
  {
    path: '/exports',
    title: 'Exports',
    group: 'Finance',
    words: 'usage records events focus csv file',
    isFor: (me) => can(me, 'billing:read'),
    component: load(() => import('../pages/exports/screen.tsx')),
  },
  {
    path: '/users',
    title: 'Users',
    group: 'Organization',
    words: 'invite role disable second factor',
    isFor: (me) => can(me, 'users:list'),
    component: load(() => import('../pages/users/screen.tsx')),
  },
  {
    path: '/organizations',
    title: 'Organizations',
    group: 'Platform',
    words: 'customers onboard suspend limits credit',
    isFor: (me) => can(me, 'organizations:list'),
    component: load(() => import('../pages/organizations/screen.tsx')),
  },
  {
    path: '/organizations/:id',
    title: 'Organization',
    isFor: (me) => can(me, 'organization:read'),
    component: load(() => import('../pages/organization/screen.tsx')),
  },
  {
    path: '/prices',
    title: 'Prices',
    group: 'Platform',
    words: 'price versions history tokens change',
    isFor: (me) => can(me, 'prices:list'),
    component: load(() => import('../pages/prices/screen.tsx')),
  },
  {
    path: '/rerates',
    title: 'Rerates',
    group: 'Platform',
    words: 're-rate correct wrong price difference',
    isFor: (me) => can(me, 'rerates:read'),
    component: load(() => import('../pages/rerates/screen.tsx')),
  },
  {
    path: '/rerates/:id',
    title: 'Rerate',
    isFor: (me) => can(me, 'rerates:read'),
    component: load(() => import('../pages/rerate/screen.tsx')),
  },
  {
    path: '/seller',
    title: 'Seller',
    group: 'Platform',
    words: 'company address tax currency payment invoice prefix',
    isFor: (me) => can(me, 'billing:issue'),
    component: load(() => import('../pages/seller/screen.tsx')),
  },
  {
    path: '/runtimes',
    title: 'Runtimes',
    group: 'Platform',
    words: 'image container vllm catalogue deployments',
    isFor: (me) => can(me, 'deployments:read'),
    isListedFor: (me) => can(me, 'catalogue:write'),
    component: load(() => import('../pages/runtimes/screen.tsx')),
  },
  {
    path: '/instance-types',
    title: 'Instance types',
    group: 'Platform',
    words: 'gpu price hour accelerators catalogue deployments',
    isFor: (me) => can(me, 'deployments:read'),
    isListedFor: (me) => can(me, 'catalogue:write'),
    component: load(() => import('../pages/instance-types/screen.tsx')),
  },
  {
    path: '/service-accounts',
    title: 'Service accounts',
    group: 'Organization',
    words: 'programs jobs secret ci token',
    isFor: (me) => can(me, 'service_accounts:read'),
    component: load(() => import('../pages/service-accounts/screen.tsx')),
  },
  {
    path: '/service-accounts/:id',
    title: 'Service account',
    isFor: (me) => can(me, 'service_accounts:read'),
    component: load(() => import('../pages/service-account/screen.tsx')),
  },
  {
    path: '/federation-rules',
    title: 'Federation rules',
    group: 'Organization',
    words: 'keyless github actions gitlab oidc jobs',
    isFor: (me) => can(me, 'service_accounts:read'),
    component: load(() => import('../pages/federation-rules/screen.tsx')),
  },
  {
    path: '/federation-rules/:id',
    title: 'Federation rule',
    isFor: (me) => can(me, 'service_accounts:read'),
    component: load(() => import('../pages/federation-rule/screen.tsx')),
  },
  {
    path: '/identity-providers',
    title: 'Identity providers',
    group: 'Organization',
    words: 'sso single sign-on okta entra scim domains groups',
    isFor: (me) => can(me, 'identity_providers:read'),
    component: load(() => import('../pages/identity-providers/screen.tsx')),
  },
  {
    path: '/identity-providers/:id',
    title: 'Identity provider',
    isFor: (me) => can(me, 'identity_providers:read'),
    component: load(() => import('../pages/identity-provider/screen.tsx')),
  },
  {
    path: '/account',
    title: 'Account',
    group: 'You',
    words: 'password second factor sessions',
    isFor: everyone,
    component: load(() => import('../pages/account/screen.tsx')),
  },
];

/** The heading in the navigation under which a user finds a screen. */
export const groupOf = ({ group, platformGroup }: Screen, me: Me): ScreenGroup | undefined =>
  isOfPlatform(me) ? (platformGroup ?? group) : group;
