import { type CloudWatchClient, paginateDescribeAlarms } from '@aws-sdk/client-cloudwatch';
import { failure, ok, type Row, warning } from './row.ts';

/**
 * Reports alarms in the state ALARM.
 * @param stack the one with all alarms, with whose name CloudFormation begins theirs
 */
export const alarmsRow = async (client: CloudWatchClient, stack: string): Promise<Row> => {
  const ringing: string[] = [];
  let alarms = 0;
  for await (const { MetricAlarms = [] } of paginateDescribeAlarms({ client }, { AlarmNamePrefix: `${stack}-` }))
    for (const { AlarmName, StateValue } of MetricAlarms) {
      alarms++;
      if (StateValue === 'ALARM') ringing.push(AlarmName ?? '');
    }
  if (ringing.length > 0)
    return failure('alarms', ringing.join(', '), `npm run admin -- why ${ringing[0]} --stack ${stack.replace(/-operations$/, '-data')}`);
  if (alarms === 0) return warning('alarms', 'there are none', 'Deploy the stack with the operations: npm run deploy');
  return ok('alarms', `${alarms}, none in ALARM`);
};
