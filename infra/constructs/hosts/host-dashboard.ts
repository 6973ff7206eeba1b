import { type IMetric, type IWidget, MathExpression, Stats } from 'aws-cdk-lib/aws-cloudwatch';
import type { Config } from '../../config/config.ts';
import { errorsOf, PERIOD, throttlesOf } from '../alarms/alarms.ts';
import { executionsOf, graph, labelled, latencyOf, sumsOf, trafficOf } from '../alarms/dashboards.ts';
import type { HostMetrics } from '../alarms/host-metrics.ts';
import { availabilityOf, badPercentage, firstTokensOf, type Objective } from '../alarms/slo-alarms.ts';
import type { InferenceHost } from './inference-host.ts';

const NANOS_PER_DOLLAR = 1_000_000_000;
const THOUSAND = 1_000;
const PERCENT = 100;

const missedPercentage = (label: string, objective: Objective): IMetric => badPercentage(objective, PERIOD).with({ label });

/** The rows of an inference host on the dashboard. @param name how their titles begin */
export const rowsOfHost = (name: string, host: InferenceHost, metrics: HostMetrics, slo: Config['slo']): IWidget[][] => {
  const { inference, catalog } = host;
  const stage = host.api.deploymentStage;
  const watched = { inference, metrics };
  const cost = new MathExpression({
    expression: `nanos * ${THOUSAND} / ${NANOS_PER_DOLLAR}`,
    usingMetrics: { nanos: metrics.costNanos.with({ statistic: Stats.AVERAGE }) },
    label: 'Charged to callers',
    period: PERIOD,
  });
  const cachedShare = new MathExpression({
    expression: `${PERCENT} * cached / prompt`,
    usingMetrics: { cached: metrics.cachedTokens, prompt: metrics.promptTokens },
    label: 'Cached prompt (%)',
    period: PERIOD,
  });
  const promised = (label: string, value: number) => ({ leftAnnotations: [{ label, value }] });
  return [
    [
      trafficOf(name, stage),
      graph(`${name}: failures`, [
        labelled('Refused or broken off', metrics.failed),
        labelled('Crashed', errorsOf(inference)),
        labelled('Could not start', throttlesOf(inference)),
      ]),
    ],
    [
      graph(`${name}: misses of the objectives (%)`, [
        missedPercentage('Not answered', availabilityOf(watched, slo)),
        missedPercentage('First token late', firstTokensOf(watched, slo)),
      ]),
      latencyOf(name, stage),
    ],
    [
      graph(
        `${name}: time to first token (ms)`,
        (['p50', 'p90', 'p99'] as const).map((statistic) => labelled(statistic, metrics.firstTokenMs.with({ statistic }))),
        promised('Promised', slo.firstTokenMs),
      ),
      graph(`${name}: tokens`, [labelled('Prompt', metrics.promptTokens), labelled('Completion', metrics.completionTokens)], {
        right: [cachedShare],
      }),
    ],
    [
      graph(`${name}: cost of a thousand requests ($)`, [cost]),
      graph(
        `${name}: limiters`,
        [
          labelled('Round trips, average', metrics.admissionRoundTrips.with({ statistic: Stats.AVERAGE })),
          labelled('Round trips, p99', metrics.admissionRoundTrips.with({ statistic: 'p99' })),
        ],
        { right: [labelled('Rejected by limits (429)', metrics.limited)] },
      ),
    ],
    [
      graph(`${name}: executions`, executionsOf([inference, catalog])),
      graph(`${name}: function errors`, sumsOf('Errors', [inference, catalog])),
    ],
  ];
};
