import { Conversation, TurnOf } from '../../design/chat/chat.tsx';
import { Columns } from '../../design/layout/layout.tsx';
import { AnswerView } from './answer-view.tsx';
import { SIDES, type Side, type Turn } from './conversation.ts';
import type { Chosen } from './send-turn.ts';

interface TurnsProps {
  turns: readonly Turn[];
  chosen: Chosen;
  onRepeat: (turn: Turn, side: Side) => void;
}

/** The messages so far, and the answers beside one another. Only the last ones can be sent again. */
export const Turns = ({ turns, chosen, onRepeat }: TurnsProps) => (
  <Conversation>
    {turns.map((turn) => (
      <TurnOf key={turn.id} question={turn.text}>
        <Columns>
          {SIDES.map((side) => {
            const answer = turn.answers[side];
            const isLast = turn === turns.at(-1);
            return (
              answer && (
                <AnswerView
                  key={side}
                  turnId={turn.id}
                  side={side}
                  answer={answer}
                  isLast={isLast}
                  onRepeat={isLast && chosen[side] ? () => onRepeat(turn, side) : undefined}
                />
              )
            );
          })}
        </Columns>
      </TurnOf>
    ))}
  </Conversation>
);
