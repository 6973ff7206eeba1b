import type { IncomingMessage } from 'node:http';

/** A request as it arrived. */
export interface RecordedRequest {
  path: string;
  headers: IncomingMessage['headers'];
  body: string;
}

const MAX_RECORDED = 1_000;
const NOT_RECORDED = '/control';

/** The requests since a recording began, at most 1,000; those of `/control` are left out. */
export const createRecordedRequests = () => {
  let recorded: RecordedRequest[] | undefined;
  return {
    /** Begins to record, and forgets what was recorded. */
    begin: (): void => {
      recorded = [];
    },
    end: (): void => {
      recorded = undefined;
    },
    list: (): readonly RecordedRequest[] => recorded ?? [],
    add: (request: RecordedRequest): void => {
      if (recorded && recorded.length < MAX_RECORDED && !request.path.startsWith(NOT_RECORDED)) recorded.push(request);
    },
  };
};

export type RecordedRequests = ReturnType<typeof createRecordedRequests>;
