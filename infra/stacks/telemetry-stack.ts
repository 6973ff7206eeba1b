import { Stack } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import type { Config, TelemetrySettings } from '../config/config.ts';
import { Telemetry } from '../constructs/queues/telemetry.ts';
import type { DataStack } from './data-stack.ts';

/** Sends spans and metrics to the endpoints of the configuration. Without endpoints there is no such stack. */
export class TelemetryStack extends Stack {
  readonly telemetry: Telemetry;

  constructor(scope: Construct, id: string, { config, settings, data }: { config: Config; settings: TelemetrySettings; data: DataStack }) {
    super(scope, id);
    this.telemetry = new Telemetry(this, 'Telemetry', { config, settings, usage: data.usage });
  }
}
