/** The result for a draft: its number, or why it was not issued. */
export type IssueResult = { number: string; failure?: undefined } | { number?: undefined; failure: string };

interface Steps<Draft> {
  /** Issues a draft. @returns its number @throws Error */
  issue: (draft: Draft) => Promise<string | null>;
  /** True: no further draft is issued. */
  isStopped: () => boolean;
  onResult: (id: string, result: IssueResult) => void;
}

/** Issues drafts one after the other. A failure of one doesn't keep the others from being issued. */
export const issueEach = async <Draft extends { id: string }>(
  drafts: readonly Draft[],
  { issue, isStopped, onResult }: Steps<Draft>,
): Promise<void> => {
  for (const draft of drafts) {
    if (isStopped()) return;
    try {
      onResult(draft.id, { number: (await issue(draft)) ?? '' });
    } catch (error) {
      onResult(draft.id, { failure: (error as Error).message });
    }
  }
};
