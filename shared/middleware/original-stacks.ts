import { originalStack } from '../logging/original-stack.ts';

/** Middleware: what the function throws, and Lambda's runtime logs, has a stack with positions in our sources. */
export const originalStacks = () => ({
  onError: ({ error }: { error: Error | null | undefined }): void => {
    if (error instanceof Error && error.stack) error.stack = originalStack(error.stack);
  },
});
