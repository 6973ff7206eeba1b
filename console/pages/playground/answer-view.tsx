import { useEffect, useState } from 'react';
import { Link } from 'wouter';
import { useRead } from '../../client/queries.ts';
import { snippetsOf } from '../../client/snippets.ts';
import { AnswerCard, WrittenText } from '../../design/chat/chat.tsx';
import { Button } from '../../design/controls/button.tsx';
import { Code } from '../../design/controls/copy.tsx';
import type { Tone } from '../../design/data/tone.ts';
import { Chip, Count, Duration, Money } from '../../design/data/values.tsx';
import { Failure, Notice } from '../../design/feedback/failure.tsx';
import { Disclosure, Row, ShortFacts, Stack } from '../../design/layout/layout.tsx';
import { RequestTimeline } from '../request/timeline.tsx';
import { type Answer, isRunning, measuresOf, type Side } from './conversation.ts';
import { changeAnswer, stopAnswer } from './conversation-store.ts';
import { STOPPED } from './stopped.ts';
import { Waking } from './waking.tsx';

interface AnswerPlace {
  turnId: string;
  side: Side;
  answer: Answer;
}

const POLL_MS = 5_000;
// The longest answer takes 580 seconds, also one that nobody reads any more.
const MAX_READS = 125;
// A request that was refused before it was admitted is not recorded.
const MAX_READS_IF_REFUSED = 2;

// A request is found as soon as its answer has ended, and then never changes here.
const useDetail = ({ turnId, side, answer }: AnswerPlace): void => {
  const { requestId, apiKeyId, organization, isAdmitted, detail } = answer;
  const maxReads = isAdmitted ? MAX_READS : MAX_READS_IF_REFUSED;
  const [isGivenUp, setGivenUp] = useState(false);
  const isSought = !isRunning(answer) && requestId !== null && detail === undefined && !isGivenUp;
  const { data, errorUpdateCount } = useRead(
    'GET /v1/observability/requests/{id}',
    { parameters: { id: requestId ?? '' }, query: { api_key_id: apiKeyId ?? undefined, organization } },
    { enabled: isSought, refetchMs: POLL_MS },
  );
  useEffect(() => setGivenUp(errorUpdateCount >= maxReads), [errorUpdateCount, maxReads]);
  useEffect(() => {
    if (isSought && data) changeAnswer(turnId, side, () => ({ detail: data }));
  }, [isSought, data, turnId, side]);
};

const isRecorded = ({ isAdmitted, detail }: Answer): boolean => isAdmitted || detail !== undefined;

const requestAddress = ({ requestId, apiKeyId, organization }: Answer): string =>
  `/requests/${requestId}?${new URLSearchParams({ ...(apiKeyId && { api_key_id: apiKeyId }), ...(organization && { organization }) })}`;

const STATES: Readonly<Record<Answer['state'], readonly [text: string, tone: Tone | undefined]>> = {
  sending: ['sending', 'accent'],
  waking: ['starting deployment', 'accent'],
  answering: ['answering', 'accent'],
  completed: ['complete', 'good'],
  stopped: ['stopped', 'warn'],
  failed: ['failed', 'bad'],
};

const Measures = ({ answer }: { answer: Answer }) => {
  const { usage, detail, finishReason } = answer;
  const { firstTokenMs, tokensPerSecond } = measuresOf(answer);
  if (!isRecorded(answer)) return null;
  return (
    <ShortFacts
      facts={[
        ['First token', <Duration key="first" milliseconds={firstTokenMs} />],
        ['Tokens per second', tokensPerSecond === undefined ? '–' : tokensPerSecond.toFixed(1)],
        ['Tokens in', <Count key="in" value={usage?.prompt_tokens ?? detail?.usage.input_tokens} />],
        ['Tokens out', <Count key="out" value={usage?.completion_tokens ?? detail?.usage.output_tokens} />],
        ['Finish reason', finishReason ?? detail?.finish_reason ?? '–'],
        ['Cost', detail ? <Money key="cost" amount={detail.cost.total} /> : isRunning(answer) ? '–' : 'being recorded'],
      ]}
    />
  );
};

const Remarks = ({ answer }: { answer: Answer }) => {
  const { state, stoppedIn, failure, ignored } = answer;
  return (
    <>
      {state === 'stopped' && stoppedIn && <Notice tone="warn">{STOPPED[stoppedIn]}</Notice>}
      {failure && <Failure failure={failure} />}
      {ignored.length > 0 && <Notice>These fields had no effect on this model: {ignored.join(', ')}.</Notice>}
    </>
  );
};

const Details = ({ answer, isOpen }: { answer: Answer; isOpen: boolean }) => {
  const { sent, requestId, detail } = answer;
  return (
    <>
      {detail && (
        <Disclosure title="Timeline" isOpen={isOpen}>
          <RequestTimeline request={detail} />
        </Disclosure>
      )}
      <Disclosure title="Code for this request">
        <Code label="Code for this request" variants={snippetsOf(sent)} />
      </Disclosure>
      {requestId && isRecorded(answer) && (
        <p>
          <Link to={requestAddress(answer)}>Open request</Link> <code>{requestId}</code>
        </p>
      )}
    </>
  );
};

interface AnswerViewProps extends AnswerPlace {
  isLast: boolean;
  /** Absent: it can't be sent again. */
  onRepeat?: (() => void) | undefined;
}

/** The answer of a model with its speed, its cost, and what was sent. */
export const AnswerView = ({ turnId, side, answer, isLast, onRepeat }: AnswerViewProps) => {
  useDetail({ turnId, side, answer });
  const { state, sent, text, reasoning, wake } = answer;
  const [stateText, tone] = STATES[state];
  return (
    <AnswerCard
      title={sent.body.model}
      isBusy={isRunning(answer)}
      head={
        <Row>
          <span role="status">
            <Chip state={stateText} tone={tone} />
          </span>
          {onRepeat && !isRunning(answer) && <Button onClick={onRepeat}>Send again</Button>}
        </Row>
      }
    >
      <Stack>
        {reasoning !== '' && (
          <Disclosure title="Reasoning" isOpen={text === ''}>
            <WrittenText text={reasoning} isSoft />
          </Disclosure>
        )}
        {text !== '' && <WrittenText text={text} />}
        {state === 'waking' && wake && <Waking wake={wake} onCancel={() => stopAnswer(turnId, side)} />}
        <Remarks answer={answer} />
        <Measures answer={answer} />
        <Details answer={answer} isOpen={isLast} />
      </Stack>
    </AnswerCard>
  );
};
