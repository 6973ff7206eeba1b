import type { AnswerReader } from './read-answer.ts';

/**
 * The maximum body of a reply to a plain invocation
 * (https://docs.aws.amazon.com/sagemaker/latest/dg/hosting-faqs.html).
 */
export const MAX_WHOLE_REPLY_BYTES = 25 * 1024 * 1024;
/** A container has 60 s for a plain invocation; SageMaker reports the timeout itself. */
export const WHOLE_REPLY_MS = 70_000;

/** The whole body of a reply as an answer with one chunk. */
export const wholeAnswer = (body: Buffer): AnswerReader => {
  let isRead = false;
  return {
    next: async () => {
      if (isRead) return undefined;
      isRead = true;
      return [{ body }];
    },
    close: () => undefined,
  };
};
