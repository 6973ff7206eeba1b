import core from '@middy/core';
import type { Context } from 'aws-lambda';

type Plugin = NonNullable<Parameters<typeof core>[1]>;

/**
 * Composes the handler of a Lambda function from middlewares, with middy. Without its timer, which would end an
 * invocation before the function's timeout: work that must end earlier reads `deadline`.
 */
export const middy = <Event, Result>({ executionMode }: Pick<Plugin, 'executionMode'> = {}) =>
  core<Event, Result, Error, Context>({ timeoutEarlyInMillis: 0, ...(executionMode && { executionMode }) });
