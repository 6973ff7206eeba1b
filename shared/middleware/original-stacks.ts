import { originalStack } from '../logging/original-stack.ts';

/** Middleware: an error that the function throws, which Lambda's runtime logs, gets positions in our sources. */
export const originalStacks = () => ({
  onError: ({ error }: { error: Error | null | undefined }): void => {
    if (error instanceof Error && error.stack) error.stack = originalStack(error.stack);
  },
});
