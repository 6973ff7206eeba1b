import type { TableFault } from './table-fault.ts';

// Less than the functions wait for Cognito.
const DELAY_MS = 3_000;

const cognito = (name: string, outage: Record<string, unknown>): TableFault => ({
  name: `Cognito ${name}`,
  hosts: 'control',
  emulator: 'cognito',
  metered: 'either',
  begin: ({ run }) => run.control('cognito', outage),
});

const CONTROL = ['control'] as const;

/** Faults of Cognito, and of the keys by which its tokens are verified. */
export const IDENTITY_FAULTS: readonly TableFault[] = [
  cognito('fails', { kind: 'unavailable' }),
  cognito('refuses connections', { kind: 'refuse' }),
  cognito('is slow', { delay_ms: DELAY_MS }),
  {
    ...cognito('does not return its keys, and none are cached', { kind: 'unavailable', method: 'GET' }),
    coldFunctions: CONTROL,
    staleFunctions: CONTROL,
  },
];
