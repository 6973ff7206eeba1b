import type { TestKey } from '../create-key.ts';
import type { FaultProxy } from '../fault-proxy.ts';
import type { TestRun } from '../local-run.ts';

/** What the faults of the table act on. */
export interface FaultyRun {
  run: TestRun;
  proxy: FaultProxy;
  /** Limits the proxy's faults to these calls. */
  failOnly: (mayFail: (operation: string, body: Buffer) => boolean) => void;
}

/** A section of the table: a fault that begins before its requests are sent and ends after their replies. */
export interface TableFault {
  name: string;
  /** Whether it is one of the proxy's, which counts the calls that it failed. */
  isOfDatabase?: true;
  /** The emulator whose calls it meets. */
  emulator?: 's3' | 'sqs' | 'cognito';
  /** What its keys have in addition. */
  keys?: Partial<TestKey>;
  /** The functions that begin and end it in new environments, which have cached nothing. */
  newEnvironments?: readonly string[];
  begin: (faulty: FaultyRun) => Promise<void>;
  /** Ends what `endFaults` doesn't. */
  end?: (faulty: FaultyRun) => Promise<void>;
  /** Whether requests that reach the model can still get a whole answer, or must fail. */
  metered: 'succeeds' | 'fails' | 'either';
  /** Whether nothing but the sweep can settle its requests: a complete reply is free. */
  isSwept?: true;
  /** Whether the model does not exist for its callers: a 404. */
  isModelAbsent?: true;
}
