import path from 'node:path';

/** The folder of the pictures. */
export const CONSOLE_PICTURES = path.join(import.meta.dirname, '../../../docs/images/console');

/** The ids of the sample data that paths name. */
export interface SampleIds {
  organization: string;
  key: string;
  request: string;
  invoice: string;
  ticket: string;
  /** An organization that uses nothing but its deployment. */
  gpuOrganization: string;
  deployment: string;
}

export interface ConsolePicture {
  /** The file's name in the folder, without `.png`. */
  name: string;
  /** Below the console's path. */
  path: (ids: SampleIds) => string;
  /** Whose screen it is. */
  user: 'owner' | 'member' | 'admin';
  /** A text of the screen when everything is loaded. */
  shows: string;
  /** A text to write, if any, and a button to press before. */
  first?: { input?: { label: string; text: string }; button: string };
  /** Default: a desktop with the light theme. */
  device?: 'dark phone';
}

/** The pictures of docs/console.md, in its order. */
export const PICTURES: readonly ConsolePicture[] = [
  { name: 'first-steps', path: () => '/', user: 'member', shows: 'First steps' },
  { name: 'home', path: () => '/', user: 'owner', shows: 'Cost this month' },
  { name: 'api-keys', path: () => '/api-keys', user: 'owner', shows: 'nightly batch' },
  { name: 'projects', path: () => '/projects', user: 'owner', shows: 'Support assistant' },
  { name: 'alias', path: () => '/aliases/assistant', user: 'owner', shows: 'Tokens per second' },
  {
    name: 'playground',
    path: () => '/playground?model=sluice-tiny&with=sluice-tiny-reasoning',
    user: 'owner',
    first: { input: { label: 'Message', text: 'Which gate is the oldest?' }, button: 'Send' },
    shows: 'Cost',
  },
  { name: 'request', path: ({ request }) => `/requests/${request}`, user: 'owner', shows: 'Timeline' },
  { name: 'usage', path: () => '/usage', user: 'owner', shows: 'Total cost' },
  {
    name: 'economics',
    path: ({ gpuOrganization }) => `/economics?range=30d&organization=${gpuOrganization}`,
    user: 'admin',
    shows: 'research-7b',
  },
  { name: 'invoice', path: ({ invoice }) => `/invoices/${invoice}`, user: 'owner', shows: 'Acme Robotics' },
  { name: 'service-levels', path: () => '/service-levels?month=2026-10', user: 'owner', shows: 'missed' },
  { name: 'deployment', path: () => '/deployments/new', user: 'owner', shows: 'Name' },
  {
    name: 'when-to-sleep',
    path: ({ deployment }) => `/deployments/${deployment}`,
    user: 'admin',
    first: { button: 'Sleep advice' },
    shows: 'Apply suggestion',
  },
  { name: 'ticket', path: ({ ticket }) => `/tickets/${ticket}`, user: 'owner', shows: 'adding a copy' },
  { name: 'audit-log', path: () => '/audit-log', user: 'owner', shows: 'ada@acme.example' },
  { name: 'organization', path: ({ organization }) => `/organizations/${organization}`, user: 'admin', shows: 'Acme Robotics' },
  { name: 'phone', path: () => '/', user: 'owner', shows: 'Cost this month', device: 'dark phone' },
];
