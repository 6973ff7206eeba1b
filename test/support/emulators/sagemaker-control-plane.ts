import { Readable } from 'node:stream';
import { ApplicationAutoScalingClient } from '@aws-sdk/client-application-auto-scaling';
import { CloudWatchLogsClient } from '@aws-sdk/client-cloudwatch-logs';
import { SageMakerClient } from '@aws-sdk/client-sagemaker';
import { ServiceQuotasClient } from '@aws-sdk/client-service-quotas';
import type { ServiceEvent } from '../../../infra/local/event-bus.ts';
import { type Account, createAccount } from '../../../infra/local/sagemaker/account.ts';
import type { DeploymentSettingsInput } from '../../../infra/local/sagemaker/control-plane/settings.ts';

/** A call as a fault sees it. */
export interface AwsCall {
  /** Such as `CreateEndpoint`. */
  operation: string;
  input: unknown;
  /** Counts from 0. */
  index: number;
}

/**
 * The outcome of a call: it fails before it is executed, or it is executed and its reply is lost. A number is the
 * status of an error response; the connection is closed otherwise.
 */
export type CallFate = 'succeed' | 'fail_before' | 'lose_reply' | 500 | 503;

interface Options {
  /** The virtual clock; by default one that `advance` moves. */
  now?: () => number;
  settings?: DeploymentSettingsInput;
  /** Decides each call's fate. */
  fateOf?: (call: AwsCall) => CallFate;
  /** Called before each call, such as to move the clock. */
  beforeCall?: (call: AwsCall) => void;
}

interface WireRequest {
  headers: Record<string, string>;
  body?: unknown;
}

const EPOCH_MS = 1_800_000_000_000;

const connectionReset = (): Error => Object.assign(new Error('socket hang up'), { name: 'TimeoutError', code: 'ECONNRESET' });

const reply = (status: number, body: object) => ({
  response: {
    statusCode: status,
    headers: { 'content-type': 'application/x-amz-json-1.1', 'x-amzn-requestid': 'test' },
    body: Readable.from([Buffer.from(JSON.stringify(body))]),
  },
});

/** An emulated account and the real SDK clients in front of it, without sockets and processes, on a virtual clock. */
export const createControlPlane = ({ now, settings, fateOf = () => 'succeed', beforeCall = () => undefined }: Options = {}) => {
  let time = EPOCH_MS;
  const events: ServiceEvent[] = [];
  const calls: AwsCall[] = [];
  const account: Account = createAccount({
    now: now ?? (() => time),
    ...(settings && { settings }),
    onEvent: (event) => events.push(event),
  });
  const handle = async ({ headers, body }: WireRequest) => {
    const target = headers['x-amz-target'] ?? '';
    const text = typeof body === 'string' ? body : new TextDecoder().decode(body as Uint8Array);
    const call: AwsCall = { operation: target.slice(target.indexOf('.') + 1), input: JSON.parse(text), index: calls.length };
    calls.push(call);
    beforeCall(call);
    const fate = fateOf(call);
    if (fate === 'fail_before') throw connectionReset();
    if (typeof fate === 'number') return reply(fate, { __type: 'InternalFailure', message: 'An internal failure occurred.' });
    const answer = account.call(target, text);
    if (fate === 'lose_reply' || answer.kind === 'lost') throw connectionReset();
    return reply(answer.status, answer.body);
  };
  const config = {
    region: 'us-east-1',
    credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
    endpoint: 'http://in-process.invalid',
    maxAttempts: 1,
    requestHandler: { handle: (request: unknown) => handle(request as WireRequest) } as never,
  };
  return {
    account,
    /** All events that were sent to EventBridge. */
    events,
    /** All calls, those that failed included. */
    calls,
    /** For more clients, with other settings. */
    config,
    sagemaker: new SageMakerClient(config),
    autoScaling: new ApplicationAutoScalingClient(config),
    logs: new CloudWatchLogsClient(config),
    quotas: new ServiceQuotasClient(config),
    now: now ?? (() => time),
    /** Moves the virtual clock. */
    advance(ms: number): void {
      time += ms;
      account.advance();
    },
  };
};

export type ControlPlane = ReturnType<typeof createControlPlane>;
