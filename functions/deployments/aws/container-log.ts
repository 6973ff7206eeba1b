import { type CloudWatchLogsClient, FilterLogEventsCommand } from '@aws-sdk/client-cloudwatch-logs';
import { isAbsent } from './errors.ts';

export interface ContainerLogLine {
  atMs: number;
  /** The stream of the copy that wrote the line. */
  stream: string;
  message: string;
}

const MAX_LINES = 1_000;
// A page can be empty even if more lines follow, so there are more pages than needed.
const MAX_LOG_PAGES = 5;
const MAX_CHARACTERS = 2_000;

/**
 * Reads the logs of inference components' containers. The log group exists from the first line on, and outlives its
 * component.
 */
export const createContainerLog = (client: CloudWatchLogsClient) => ({
  /**
   * Lines of a component's containers since a time, oldest first.
   * @param pattern a filter of CloudWatch Logs; empty: all lines
   * @param most at most 1,000
   */
  read: async (component: string, sinceMs: number, pattern: string, most = MAX_LINES): Promise<ContainerLogLine[]> => {
    const lines: ContainerLogLine[] = [];
    let nextToken: string | undefined;
    for (let page = 0; page < MAX_LOG_PAGES; page++) {
      const input = {
        logGroupName: `/aws/sagemaker/InferenceComponents/${component}`,
        startTime: sinceMs,
        limit: Math.min(most, MAX_LINES),
        ...(pattern && { filterPattern: pattern }),
        ...(nextToken !== undefined && { nextToken }),
      };
      try {
        const reply = await client.send(new FilterLogEventsCommand(input));
        for (const { timestamp = 0, logStreamName = '', message = '' } of reply.events ?? [])
          lines.push({ atMs: timestamp, stream: logStreamName, message: message.slice(0, MAX_CHARACTERS) });
        nextToken = reply.nextToken;
      } catch (error) {
        if (isAbsent(error)) return [];
        throw error;
      }
      if (nextToken === undefined || lines.length >= most) break;
    }
    return lines;
  },
});

export type ContainerLog = ReturnType<typeof createContainerLog>;
