import type { Control, SignedIn } from '../../clients/control.ts';
import type { TestRun } from '../../clients/local-run.ts';
import type { TestKeys } from '../../clients/test-keys.ts';
import type { TestKey } from '../../fixtures/create-key.ts';
import type { FaultProxy } from '../fault-proxy.ts';
import type { Identities } from './identities.ts';
import type { TableRoute } from './routes.ts';

/** The local run that the faults of the table act on. */
export interface FaultyRun {
  run: TestRun;
  proxy: FaultProxy;
  /** The keys of the cells, in the database behind the proxy. */
  keys: TestKeys;
  /** Limits the proxy's faults to these calls. */
  failOnly: (mayFail: (operation: string, body: Buffer) => boolean) => void;
  control: Control;
  /** Owners of one organization. Each is used in turn, because failed logins of one user are limited. */
  users: readonly SignedIn[];
  /** Identities of the same organization. */
  identities: Identities;
}

/** A section of the table: a fault that begins before its requests are sent and ends after their replies. */
export interface TableFault {
  name: string;
  /** Set if it is one of the proxy's faults, which counts the calls that it failed. */
  isOfDatabase?: true;
  /** Whose requests are sent during it. Default: those to the inference hosts. */
  hosts?: 'control' | 'all';
  /** The emulator whose calls it meets. */
  emulator?: 's3' | 'sqs' | 'cognito';
  /** Further settings of its keys. */
  keys?: Partial<TestKey>;
  /** The functions that begin it in new environments, which have cached nothing. */
  coldFunctions?: readonly string[];
  /** The functions whose environments are replaced at its end, because they have cached something of it. */
  staleFunctions?: readonly string[];
  /** How far the functions' clock is ahead of the service's; negative: behind. */
  clockOffsetMs?: number;
  begin: (faulty: FaultyRun) => Promise<void>;
  /**
   * Runs while its requests are in flight.
   * @param untilHeld resolves when the model holds all answers, each after its first parts, and all other requests have
   * their replies
   */
  during?: (faulty: FaultyRun, untilHeld: () => Promise<void>) => Promise<void>;
  /** Ends what `endFaults` doesn't. */
  end?: (faulty: FaultyRun) => Promise<void>;
  /** The kinds of requests that it doesn't reach, or that another model answers. */
  spares?: readonly TableRoute['kind'][];
  /** The replies to requests that reach the model: whole answers, errors, or either. */
  metered: 'succeeds' | 'fails' | 'either';
  /** How long its failed replies can take, because of random waits between attempts. */
  failsWithinMs?: number;
  /** Set if only the sweep can settle its requests: a complete reply is free. */
  isSwept?: true;
  /** Set if the model does not exist for its callers: a 404. */
  isModelAbsent?: true;
}
