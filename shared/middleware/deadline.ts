import type { Context } from 'aws-lambda';

/** Lambda's context, and whether there is time to begin more work. */
export interface TimedContext extends Context {
  hasTime: () => boolean;
}

/**
 * Middleware: gives the handler `context.hasTime`. @param reserveMs the time before the function's timeout in which
 * nothing more is begun
 */
export const deadline = (reserveMs: number) => ({
  before: ({ context }: { context: TimedContext }): void => {
    context.hasTime = () => context.getRemainingTimeInMillis() > reserveMs;
  },
});
