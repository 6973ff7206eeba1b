import { useEffect, useState } from 'react';
import { Progress } from '../../design/chat/chat.tsx';
import { Button } from '../../design/controls/button.tsx';
import { Notice } from '../../design/feedback/failure.tsx';
import { formatDuration } from '../../design/format/times.ts';
import { Row, Stack } from '../../design/layout/layout.tsx';
import { MAX_WAKE_SECONDS, progressOf, type Wake } from './wake.ts';

const TICK_MS = 1_000;

const useNowSeconds = (): number => {
  const [now, setNow] = useState(() => Date.now() / 1_000);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now() / 1_000), TICK_MS);
    return () => clearInterval(timer);
  }, []);
  return now;
};

const inWords = (seconds: number): string => formatDuration(Math.round(seconds) * 1_000);

/** A deployment that starts, how long that usually takes, and when the request is sent again. */
export const Waking = ({ wake, onCancel }: { wake: Wake; onCancel: () => void }) => {
  const now = useNowSeconds();
  const left = wake.expectedAt - now;
  const next = wake.sentAgainAt - now;
  return (
    <Notice>
      <Stack>
        <p>{wake.sentence}</p>
        <Progress label="Start of the deployment" value={progressOf(wake, now)} />
        <p>
          {left > 0 ? `About ${inWords(Math.max(1, left))} left` : 'This is taking longer than expected'}
          {wake.p50Seconds > 0 &&
            `. Half of the deployment's starts took at most ${inWords(wake.p50Seconds)}, 90% at most ${inWords(wake.p90Seconds)}`}
          . {next > 0 ? `Sluice retries the request in ${Math.ceil(next)} s` : 'Sluice is retrying the request'}, for at most{' '}
          {MAX_WAKE_SECONDS / 60} minutes in total.
        </p>
        <Row>
          <Button onClick={onCancel}>Cancel</Button>
        </Row>
      </Stack>
    </Notice>
  );
};
