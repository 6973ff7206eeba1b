import { useEffect, useRef, useState } from 'react';
import type { ApiFailure } from '../../client/api-failure.ts';
import { requestTrial } from '../../client/request.ts';
import type { ReplyBody } from '../../client/routes.ts';
import { waitBefore } from './call-pace.ts';
import type { NewDeployment } from './deployment-draft.ts';

export type Estimate = NonNullable<ReplyBody<'POST /v1/deployments'>['estimate']>;

/** The API's view of a draft. */
export interface Judged {
  /** The draft that it is about. */
  body?: NewDeployment;
  estimate?: Estimate;
  failure?: ApiFailure;
}

// Somebody who types pauses for less.
const SETTLED_MS = 700;

const whenVisible = (run: () => void): (() => void) => {
  if (!document.hidden) {
    run();
    return () => undefined;
  }
  const onShown = () => {
    if (document.hidden) return;
    document.removeEventListener('visibilitychange', onShown);
    run();
  };
  document.addEventListener('visibilitychange', onShown);
  return () => document.removeEventListener('visibilitychange', onShown);
};

const judge = async (body: NewDeployment, signal: AbortSignal): Promise<Judged> => {
  try {
    return { body, estimate: await requestTrial('POST /v1/deployments', { body, signal }) };
  } catch (failure) {
    return { body, failure: failure as ApiFailure };
  }
};

/**
 * Asks the API what a draft would cost and if it can run, when it has not changed for a moment. Nothing is created.
 * @param body undefined: it can't be sent yet
 */
export const useEstimate = (body: NewDeployment | undefined): { judged: Judged; isCurrent: boolean } => {
  const [judged, setJudged] = useState<Judged>({});
  const calls = useRef<number[]>([]);
  const text = JSON.stringify(body);
  useEffect(() => {
    if (text === undefined) return;
    const aborting = new AbortController();
    let stopWaiting: (() => void) | undefined;
    const send = async () => {
      calls.current = [...calls.current, Date.now()].slice(-10);
      const next = await judge(JSON.parse(text) as NewDeployment, aborting.signal);
      if (!aborting.signal.aborted) setJudged(next);
    };
    const timer = setTimeout(
      () => {
        stopWaiting = whenVisible(() => void send());
      },
      calls.current.length === 0 ? 0 : Math.max(SETTLED_MS, waitBefore(calls.current, Date.now())),
    );
    return () => {
      clearTimeout(timer);
      stopWaiting?.();
      aborting.abort();
    };
  }, [text]);
  return { judged, isCurrent: judged.body !== undefined && JSON.stringify(judged.body) === text };
};
