import type { KeyboardEvent } from 'react';
import { ComposerPlace } from '../../design/chat/chat.tsx';
import { Button } from '../../design/controls/button.tsx';
import { TextArea } from '../../design/controls/fields.tsx';
import { Row, Stack } from '../../design/layout/layout.tsx';
import { isRunning, SIDES, type Turn } from './conversation.ts';
import { changeConversation, stopAnswer } from './conversation-store.ts';
import { STOP_HINT } from './stopped.ts';

interface ComposerProps {
  draft: string;
  last: Turn | undefined;
  /** Undefined: nothing can be sent now. */
  onSend: (() => void) | undefined;
}

/** The next message, and what sends it or stops the answers to the last one. */
export const Composer = ({ draft, last, onSend }: ComposerProps) => {
  const running = SIDES.filter((side) => {
    const answer = last?.answers[side];
    return answer && isRunning(answer);
  });
  const isAnswering = running.some((side) => last?.answers[side]?.state !== 'waking');
  const hint = running.length === 0 ? 'Press Ctrl+Enter or Cmd+Enter to send.' : isAnswering ? STOP_HINT : '';
  const canSend = onSend !== undefined && draft.trim() !== '' && running.length === 0;
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    if (canSend) onSend();
  };
  return (
    <ComposerPlace>
      <Stack>
        <TextArea
          label="Message"
          isLabelHidden
          placeholder="Write a message"
          value={draft}
          onChange={(text) => changeConversation({ draft: text })}
          onKeyDown={onKeyDown}
          rows={2}
        />
        <Row>
          {running.length === 0 ? (
            <Button look="primary" disabled={!canSend} onClick={onSend}>
              Send
            </Button>
          ) : (
            <Button onClick={() => last && running.map((side) => stopAnswer(last.id, side))}>Stop</Button>
          )}
          <small>{hint}</small>
        </Row>
      </Stack>
    </ComposerPlace>
  );
};
