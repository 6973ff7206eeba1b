import { randomUUID } from 'node:crypto';
import type { EventRule } from '../assembly/local-app.ts';
import { ACCOUNT_ID, REGION } from '../assembly/resolve.ts';

/** An event of an AWS service. */
export interface ServiceEvent {
  /** Such as `aws.sagemaker`. */
  source: string;
  /** Such as `SageMaker Endpoint State Change`. */
  detailType: string;
  /** ARNs. */
  resources?: readonly string[];
  detail: Readonly<Record<string, unknown>>;
}

/** EventBridge's default bus. */
export interface EventBus {
  /** Invokes the functions of all rules that match. */
  publish(event: ServiceEvent): void;
}

/**
 * An event in EventBridge's form (https://docs.aws.amazon.com/eventbridge/latest/ref/overview-event-structure.html).
 */
export const toEvent = ({ source, detailType, resources = [], detail }: ServiceEvent): object => ({
  version: '0',
  id: randomUUID(),
  'detail-type': detailType,
  source,
  account: ACCOUNT_ID,
  time: new Date().toISOString(),
  region: REGION,
  resources,
  detail,
});

/**
 * Creates a bus that passes events to functions.
 * @param invokeLater invokes a function without waiting for it, by its ARN
 */
export const createEventBus = (rules: readonly EventRule[], invokeLater: (functionArn: string, event: Buffer) => unknown): EventBus => ({
  publish(reported) {
    const event = toEvent(reported);
    for (const { matches, functionArn } of rules) if (matches(event)) invokeLater(functionArn, Buffer.from(JSON.stringify(event)));
  },
});
