import type { CloudWatchLogsClient } from '@aws-sdk/client-cloudwatch-logs';
import type { Currency } from '../../../../functions/control/billing/currency.ts';
import { drawTimeline } from '../../../../functions/control/observability/requests/draw-timeline.ts';
import { describeRequest, isRequestId } from '../../../../functions/control/observability/requests/retrieve-request.ts';
import { requestTimeMs } from '../../../../shared/ids/request-id.ts';
import { MINUTE_MS } from '../../../../shared/time/units.ts';
import { describeRows } from './describe-rows.ts';
import { type LogRow, queryLogs, type TimeRange } from './query-logs.ts';

// A request takes up to ten minutes, and the sweep settles one that crashed a few minutes later.
const MAX_LINES_AFTER_MS = 60 * MINUTE_MS;

// API Gateway's ids end with padding.
const GATEWAY_ID = /^[\w-]{8,}={1,2}$/;

/** True for the `x-request-id` of a response of Sluice, or of API Gateway if it answered itself. */
export const isRequest = (text: string): boolean => isRequestId(text) || GATEWAY_ID.test(text);

interface RequestSources {
  logs: CloudWatchLogsClient;
  /** Where usage events are found. */
  requests: () => Promise<Parameters<typeof describeRequest>[0]>;
  /** The currency of all prices. */
  currency: () => Promise<Pick<Currency, 'symbol'>>;
}

const sourceOf = (prefix: string, groups: readonly string[]): string =>
  `SOURCE logGroups(namePrefix: [${groups.map((group) => `'${prefix}-${group}'`).join(', ')}])`;

const linesQuery = (prefix: string, id: string): string =>
  [
    sourceOf(prefix, ['serverless-InferenceLogs', 'serverless-CatalogLogs', 'serverless-MeteringLogs', 'ondemand-', 'control-']),
    '| fields @timestamp, message, path, code, status, outcome, detail, key_id, org_id, gateway_request_id',
    `| filter request_id = '${id}'`,
    '| sort @timestamp asc',
  ].join('\n');

const accessQuery = (prefix: string, id: string): string =>
  [
    sourceOf(prefix, ['serverless-HostAccessLogs', 'ondemand-HostAccessLogs', 'control-HostAccessLogs']),
    '| fields @timestamp, method, resource, status, integration_status, error_type, latency_ms, time_to_first_content_ms',
    `| filter extended_request_id = '${id}' or gateway_request_id = '${id}'`,
  ].join('\n');

const timelineOf = async ({ requests, currency }: RequestSources, id: string, lines: readonly LogRow[]): Promise<string | undefined> => {
  const keyId = lines.map((line) => line.get('key_id')).find((found) => found !== undefined);
  if (keyId === undefined) return undefined;
  const found = await describeRequest(await requests(), keyId, id);
  return found && drawTimeline(found.detail, (await currency()).symbol);
};

/**
 * Says what the logs and the usage event have about a request.
 * @param range where to look if the request's id does not tell its time
 */
export const whyRequest = async (sources: RequestSources, id: string, prefix: string, range: TimeRange): Promise<string> => {
  const { logs } = sources;
  if (!isRequestId(id)) return `${id}\n\n${describeRows(await queryLogs(logs, accessQuery(prefix, id), range))}\n`;
  const arrivedMs = requestTimeMs(id);
  const around = { startMs: arrivedMs - MINUTE_MS, endMs: arrivedMs + MAX_LINES_AFTER_MS };
  const lines = await queryLogs(logs, linesQuery(prefix, id), around);
  const timeline =
    (await timelineOf(sources, id, lines)) ??
    'There is no usage event: the request was not admitted, or the logs no longer name its API key.';
  const gatewayId = lines.map((line) => line.get('gateway_request_id')).find((found) => found !== undefined);
  const access = gatewayId === undefined ? [] : await queryLogs(logs, accessQuery(prefix, gatewayId), around);
  return `${[id, describeRows(lines), ...(access.length > 0 ? [describeRows(access)] : []), timeline.trimEnd()].join('\n\n')}\n`;
};
